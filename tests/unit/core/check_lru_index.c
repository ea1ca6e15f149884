/* The set-associative index, against a list of each set's keys by their last use. */
#include "server/core/lru_index.h"

#include "tests/unit/support/fixtures.h"

enum { SETS = 4, WAYS = 3 };

static struct lru_slot slots[SETS * WAYS];
static struct lru_index lru = {.slots = slots, .sets = SETS, .ways = WAYS};

START_TEST(test_claim)
{
    int slot[WAYS];
    ck_assert_int_eq(lru_find(&lru, 0), -1); /* an empty slot has the key 0, too */
    for (int i = 0; i < WAYS; i++) {
        slot[i] = lru_claim(&lru, (uint64_t)i * SETS);
        ck_assert_int_lt(slot[i], WAYS); /* all in the first set */
        for (int j = 0; j < i; j++)
            ck_assert_int_ne(slot[i], slot[j]);
    }
    for (int i = 0; i < WAYS; i++)
        ck_assert_int_eq(lru_find(&lru, (uint64_t)i * SETS), slot[i]);
    ck_assert_int_eq(lru_claim(&lru, 0), slot[0]);   /* again: now key SETS is the oldest */
    ck_assert_int_eq(lru_find(&lru, SETS), slot[1]); /* no use */
    ck_assert_int_eq(lru_claim(&lru, 100 * SETS), slot[1]);
    ck_assert_int_eq(lru_find(&lru, SETS), -1);
    lru_touch(&lru, slot[2]);
    lru_drop(&lru, slot[1]);
    ck_assert_int_eq(lru_find(&lru, 100 * SETS), -1);
    ck_assert_int_eq(lru_claim(&lru, 7 * SETS), slot[1]); /* empty before oldest */
    ck_assert_int_eq(lru_claim(&lru, 8 * SETS), slot[0]);
    ck_assert_int_ge(lru_claim(&lru, 1), WAYS);
}
END_TEST

/* The keys of a set, the most recently used one first. */
struct model {
    uint64_t key[WAYS];
    int count;
};

static int place_of(const struct model *model, uint64_t key)
{
    int place = 0;
    while (place < model->count && model->key[place] != key)
        place++;
    return place;
}

static void remove_at(struct model *model, int place)
{
    memmove(&model->key[place], &model->key[place + 1],
            (size_t)(--model->count - place) * sizeof *model->key);
}

START_TEST(test_model)
{
    struct model models[SETS] = {0};
    uint64_t state = 11, entry[SETS * WAYS] = {0};
    for (int i = 0; i < 100000; i++) {
        const uint64_t key =
            (uint64_t)chance_below(&state, 5 * SETS) | (uint64_t)chance_below(&state, 2) << 63;
        struct model *model = &models[key % SETS];
        const int slot = lru_find(&lru, key), place = place_of(model, key);
        must((slot >= 0) == (place < model->count), "key %d", (int)key);
        must(slot < 0 || entry[slot] == key, "slot %d", slot);
        if (slot >= 0 && chance_below(&state, 4) == 0) {
            lru_drop(&lru, slot);
            remove_at(model, place);
            continue;
        }
        entry[lru_claim(&lru, key)] = key;
        if (place < model->count)
            remove_at(model, place);
        else if (model->count == WAYS)
            model->count--;
        memmove(&model->key[1], &model->key[0], (size_t)model->count++ * sizeof key);
        model->key[0] = key;
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("LRU index");
    TCase *tcase = suite_case(suite, "slots");
    tcase_add_test(tcase, test_claim);
    tcase_add_test(tcase, test_model);
    return suite_run(suite);
}
