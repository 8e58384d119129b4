/*
 * See meter_differences.h.
 */
#include "cli/meter_differences.h"

#include <inttypes.h>
#include <string.h>

#include "base/attr.h"

#define TEXT 512

/* What stands in the file, as text; NULL: nothing, or something that is no answer. */
static const char *text_of(const json_t *value, char text[TEXT])
{
    if (json_is_string(value)) {
        return json_string_value(value);
    }
    if (json_is_integer(value)) {
        snprintf(text, TEXT, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        return text;
    }
    return NULL;
}

static void add(json_t *differences, const char *name, const json_t *a, const json_t *b)
{
    char texts[2][TEXT];
    const char *of_a = text_of(a, texts[0]);
    const char *of_b = text_of(b, texts[1]);

    if (of_a == of_b || (of_a && of_b && strcmp(of_a, of_b) == 0)) {
        return; /* alike, or said by neither */
    }
    json_array_append_new(differences,
                          json_pack("{s:s, s:s?, s:s?}", "name", name, "a", of_a, "b", of_b));
}

static const json_t *fact_of(const json_t *file, const char *name)
{
    const json_t *facts = json_object_get(file, "machine");

    for (size_t i = 0; i < json_array_size(facts); i++) {
        const json_t *fact = json_array_get(facts, i);
        const char *found = json_string_value(json_object_get(fact, "name"));

        if (found && strcmp(found, name) == 0) {
            return json_object_get(fact, "value");
        }
    }
    return NULL;
}

json_t *tt_meter_differences(const json_t *a, const json_t *b)
{
    static const char *const asked[] = {"device", "policy", "cpu", "compute_percent"};
    const json_t *facts = json_object_get(a, "machine");
    json_t *differences = json_array();

    for (size_t i = 0; i < TT_COUNT_OF(asked); i++) {
        add(differences, asked[i], json_object_get(a, asked[i]), json_object_get(b, asked[i]));
    }
    for (size_t i = 0; i < json_array_size(facts); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(facts, i), "name"));

        if (name) {
            add(differences, name, fact_of(a, name), fact_of(b, name));
        }
    }
    return differences;
}

void tt_meter_differences_print(const json_t *differences, FILE *out)
{
    for (size_t i = 0; i < json_array_size(differences); i++) {
        const json_t *difference = json_array_get(differences, i);
        const char *a = json_string_value(json_object_get(difference, "a"));
        const char *b = json_string_value(json_object_get(difference, "b"));

        fprintf(out, "Not alike: %s: A %s, B %s\n",
                json_string_value(json_object_get(difference, "name")), a ? a : "does not say",
                b ? b : "does not say");
    }
}
