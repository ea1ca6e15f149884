/* MD5: the RFC's digests, and the same however the bytes are cut. */
#include "server/core/md5.h"

#include "tests/unit/support/fixtures.h"

static const struct {
    const char *text, *digest;
} rows[] = {
    /* RFC 1321, A.5 */
    {"", "D41D8CD98F00B204E9800998ECF8427E"},
    {"a", "0CC175B9C0F1B6A831C399E269772661"},
    {"abc", "900150983CD24FB0D6963F7D28E17F72"},
    {"message digest", "F96B697D7CB7938D525A2F31AAF161D0"},
    {"abcdefghijklmnopqrstuvwxyz", "C3FCD3D76192E4007DFB496CCA67E13B"},
    {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
     "D174AB98D277D9F5A5611C2C9F419D9F"},
    {"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
     "57EDF4A22BE3C955AC49DA2E2107B67A"},
};

START_TEST(test_digests)
{
    const char *text = rows[_i].text;
    for (size_t cut = 0; cut <= strlen(text); cut++) {
        struct md5 md5;
        char digest[MD5_HEX];
        md5_begin(&md5);
        md5_add(&md5, text, cut);
        md5_add(&md5, text + cut, strlen(text) - cut);
        md5_end(&md5, digest);
        ck_assert_str_eq(digest, rows[_i].digest);
    }
}
END_TEST

/* Zeros of each length up to three blocks, of which md5sum(1) says the same. */
START_TEST(test_lengths)
{
    static const uint8_t zeros[200];
    struct md5 all, md5;
    char digest[MD5_HEX];

    md5_begin(&all);
    for (size_t length = 0; length < sizeof zeros; length++) {
        md5_begin(&md5);
        md5_add(&md5, zeros, length);
        md5_end(&md5, digest);
        md5_add(&all, digest, strlen(digest));
    }
    md5_end(&all, digest);
    ck_assert_str_eq(digest, "E76EE160FBADED776A19894116A9ACA2");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("md5");
    TCase *tcase = suite_case(suite, "digests");
    tcase_add_loop_test(tcase, test_digests, 0, ROWS(rows));
    tcase_add_test(tcase, test_lengths);
    return suite_run(suite);
}
