#include "report.h"

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

static void table_row(const char *what, const struct latencies *latencies, FILE *out)
{
    fprintf(out, "  %-12s %10lu %10.3f %10.3f %10.3f %10.3f %10.3f\n", what,
            (unsigned long)latencies->count, ms(latencies_within(latencies, 0.5)),
            ms(latencies_within(latencies, 0.9)), ms(latencies_within(latencies, 0.99)),
            ms(latencies_within(latencies, 0.999)), ms(latencies->max));
}

static void table_stream(const struct report *report, unsigned i, FILE *out)
{
    const struct stream_plan *plan = &report->plan->stream[i];
    const struct stream_counts *c = stream_counts(report->streams[i]);

    fprintf(out, "%s: %lu due", plan->name, (unsigned long)c->due);
    if (!plan->closed)
        fprintf(out, " at %g/s", plan->rate);
    fprintf(out, ", %.1f answers/s, %.2f MiB/s; %lu waited for a connection\n",
            (double)c->answered / report->seconds, (double)c->bytes / report->seconds / 0x1p20,
            (unsigned long)c->waited);
    fprintf(out, "  %-12s %10s %10s %10s %10s %10s %10s\n", "", "count", "p50 ms", "p90", "p99",
            "p99.9", "max");
    for (unsigned s = 0; s < c->statuses; s++) {
        const struct stream_answers *answers = &c->by_status[s];
        char what[24];
        snprintf(what, sizeof what, "%d", answers->status);
        table_row(what, &answers->latencies, out);
        if (answers->retry_after)
            fprintf(out, "  %-12s %10lu with Retry-After\n", "",
                    (unsigned long)answers->retry_after);
    }
    table_row("all", &c->all, out);
    table_row("own lag", &c->lag, out);
    fprintf(out,
            "  refused %lu, cut %lu, malformed %lu, unanswered %lu, unsent %lu; abandoned %lu\n",
            (unsigned long)c->refused, (unsigned long)c->cut, (unsigned long)c->malformed,
            (unsigned long)c->unanswered, (unsigned long)c->unsent, (unsigned long)c->abandoned);
}

void report_table(const struct report *report, FILE *out)
{
    for (unsigned i = 0; i < report->plan->streams; i++)
        table_stream(report, i, out);
    fprintf(out, "%.3f s; this program used %.0f %% of one core\n", report->seconds,
            100 * report->cpu / report->seconds);
}

static void json_latencies(const struct latencies *latencies, FILE *out)
{
    fprintf(out,
            "\"count\": %lu, \"p50\": %.4f, \"p90\": %.4f, \"p99\": %.4f, \"p999\": %.4f, "
            "\"max\": %.4f",
            (unsigned long)latencies->count, ms(latencies_within(latencies, 0.5)),
            ms(latencies_within(latencies, 0.9)), ms(latencies_within(latencies, 0.99)),
            ms(latencies_within(latencies, 0.999)), ms(latencies->max));
}

static void json_stream(const struct report *report, unsigned i, FILE *out)
{
    const struct stream_plan *plan = &report->plan->stream[i];
    const struct stream_counts *c = stream_counts(report->streams[i]);

    fprintf(
        out,
        "{\"name\": \"%s\", \"rate\": %g, \"opened\": %lu, \"due\": %lu, \"sent\": %lu, \"waited\": %lu, "
        "\"answered\": %lu, \"abandoned\": %lu, \"bytes\": %lu,\n",
        plan->name, plan->rate, (unsigned long)c->opened, (unsigned long)c->due,
        (unsigned long)c->sent, (unsigned long)c->waited, (unsigned long)c->answered,
        (unsigned long)c->abandoned, (unsigned long)c->bytes);
    fprintf(out,
            "   \"errors\": {\"refused\": %lu, \"cut\": %lu, \"malformed\": %lu, "
            "\"unanswered\": %lu, \"unsent\": %lu},\n",
            (unsigned long)c->refused, (unsigned long)c->cut, (unsigned long)c->malformed,
            (unsigned long)c->unanswered, (unsigned long)c->unsent);
    fputs("   \"all\": {", out);
    json_latencies(&c->all, out);
    fputs("},\n   \"lag\": {", out);
    json_latencies(&c->lag, out);
    fputs("},\n   \"status\": {", out);
    for (unsigned s = 0; s < c->statuses; s++) {
        const struct stream_answers *answers = &c->by_status[s];
        fprintf(out, "%s\"%d\": {", s ? ", " : "", answers->status);
        json_latencies(&answers->latencies, out);
        fprintf(out, ", \"retry_after\": %lu}", (unsigned long)answers->retry_after);
    }
    fputs("}}", out);
}

void report_progress(const struct report *report, FILE *out)
{
    unsigned long opened = 0, sent = 0, answered = 0, bytes = 0;

    for (unsigned i = 0; i < report->plan->streams; i++) {
        const struct stream_counts *c = stream_counts(report->streams[i]);
        opened += c->opened;
        sent += c->sent;
        answered += c->answered;
        bytes += c->bytes;
    }
    fprintf(
        out,
        "{\"progress\": true, \"opened\": %lu, \"sent\": %lu, \"answered\": %lu, \"bytes\": %lu}\n",
        opened, sent, answered, bytes);
}

void report_json(const struct report *report, FILE *out)
{
    fprintf(out, "{\"target\": \"%s\", \"seconds\": %.6f, \"cpu_seconds\": %.6f, \"streams\": [\n",
            report->plan->authority, report->seconds, report->cpu);
    for (unsigned i = 0; i < report->plan->streams; i++) {
        fputs(i ? ",\n  " : "  ", out);
        json_stream(report, i, out);
    }
    fputs("\n]}\n", out);
}
