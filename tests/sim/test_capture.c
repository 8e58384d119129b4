/*
 * The cases of capture_cases.c, each with its seeds.
 *
 * test_sim_capture                      all of them, as cmocka tests
 * test_sim_capture --list               their names
 * test_sim_capture --case NAME --seed N one run, in words; exit code 1 where something is wrong
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "capture_cases.h"
#include "test.h"

static void run(const struct capture_case *c, uint64_t seed, struct scene *s,
                struct scene_result *r)
{
    scene_init(s, seed);
    s->config.sparse = c->sparse;
    s->sequence = (uint8_t)(c->sparse ? s->sequence & ~7 : s->sequence); /* the first is stamped */
    c->arrange(s, c->argument);
    scene_run(s, r);
    scene_judge(s, r);
}

static void all_seeds(void **state)
{
    const struct capture_case *c = *state;

    for (uint64_t seed = 0; seed < c->seeds; seed += SEED_STEP) {
        struct scene s;
        struct scene_result r;

        run(c, seed, &s, &r);
        scene_result_done(&r);
        scene_done(&s);
        if (s.failure[0] != 0) {
            fail_msg("%s\n%s\nin words: tests/sim/test_sim_capture --case %s --seed %llu",
                     s.failure, s.story, c->name, (unsigned long long)seed);
        }
    }
}

static int replay(const char *name, uint64_t seed)
{
    for (size_t i = 0; i < capture_case_count; i++) {
        if (strcmp(capture_cases[i].name, name) == 0) {
            struct scene s;
            struct scene_result r;

            run(&capture_cases[i], seed, &s, &r);
            scene_show(&s, &r, stdout);
            scene_result_done(&r);
            scene_done(&s);
            return s.failure[0] != 0;
        }
    }
    fprintf(stderr, "there is no case %s; --list names them\n", name);
    return 2;
}

static int list(void)
{
    for (size_t i = 0; i < capture_case_count; i++) {
        puts(capture_cases[i].name);
    }
    return 0;
}

static int run_all(void)
{
    struct CMUnitTest tests[100] = {{0}};

    assert_true(capture_case_count <= TT_COUNT_OF(tests));
    for (size_t i = 0; i < capture_case_count; i++) {
        tests[i] = (struct CMUnitTest){.name = capture_cases[i].name,
                                       .test_func = all_seeds,
                                       .initial_state = (void *)(uintptr_t)&capture_cases[i]};
    }
    return _cmocka_run_group_tests("capture", tests, capture_case_count, NULL, NULL);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"list", no_argument, NULL, 'l'},
                                            {"case", required_argument, NULL, 'c'},
                                            {"seed", required_argument, NULL, 's'},
                                            {0}};
    const char *name = NULL;
    uint64_t seed = 0;
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case 'l':
            return list();
        case 'c':
            name = optarg;
            break;
        case 's':
            seed = strtoull(optarg, NULL, 10);
            break;
        default:
            return 2;
        }
    }
    return name ? replay(name, seed) : run_all();
}
