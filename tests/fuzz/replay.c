/*
 * Runs a fuzz target over the files of a corpus folder, each in a buffer of its exact size, and
 * holds that together they reach every named reason. So a check needs neither clang nor a fuzzer.
 */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* 0, or -1 where the file cannot be read. */
static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat info;
    uint8_t *data = NULL;
    size_t size = 0;
    int result = -1;

    if (!file)
        return -1;
    if (fstat(fileno(file), &info) == 0 && info.st_size >= 0) {
        size = (size_t)info.st_size;
        data = (uint8_t *)malloc(size);
    }
    if ((data || size == 0) && fread(data, 1, size, file) == size) {
        LLVMFuzzerTestOneInput(data, size);
        result = 0;
    }
    free(data);
    fclose(file);
    return result;
}

/* The number of files replayed, or -1. */
static int replay_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    int files = 0;

    if (!dir)
        return -1;
    while (files >= 0 && (entry = readdir(dir)) != NULL) {
        char path[4096];

        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        files = replay_file(path) == 0 ? files + 1 : -1;
    }
    closedir(dir);
    return files;
}

int main(int argc, char **argv)
{
    const struct fuzz_reason *reasons;
    size_t count;
    size_t missed = 0;
    int files = argc == 2 ? replay_folder(argv[1]) : -1;

    if (files < 0) {
        fprintf(stderr, "cannot replay %s\n", argc == 2 ? argv[1] : "(usage: replay FOLDER)");
        return 2;
    }
    reasons = fuzz_reasons(&count);
    for (size_t i = 0; i < count; i++) {
        printf("%6u  %s\n", reasons[i].reached, reasons[i].name);
        missed += reasons[i].reached == 0;
    }
    printf("%d files, %zu of %zu reasons reached\n", files, count - missed, count);
    return missed == 0 ? 0 : 1;
}
