/*
 * The packet link over a veth pair: what goes in comes out, with tag and stamp, and nothing else
 * does.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "netns.h"
#include "os/clock.h"
#include "os/link_packet.h"

#define STREAM_ID      UINT64_C(0x0200000000010001)
#define FRAME_BYTES    64
#define PATIENCE_MS    5000
#define TAG_VLAN_2     2
#define FULL_FRAME     1514
#define FULL_TAGGED    1518
#define BATCH_BYTES    1600
#define ETHERTYPE_AVTP 0x22F0

static const uint8_t dest[6] = {0x91, 0xE0, 0xF0, 0x00, 0xFE, 0x01};
static const uint64_t stream_id = STREAM_ID;

/* One frame of the stream; returns its length, which is `bytes`. */
static size_t build(uint8_t *frame, size_t bytes, int tag, uint8_t mark)
{
    size_t at = 12;

    memset(frame, 0, bytes);
    memcpy(frame, dest, 6);
    frame[6] = 0x02;
    if (tag >= 0) {
        tt_put_be16(frame + 12, 0x8100);
        tt_put_be16(frame + 14, (uint16_t)tag);
        at = 16;
    }
    tt_put_be16(frame + at, ETHERTYPE_AVTP);
    frame[at + 2] = 0x02;
    tt_put_be64(frame + at + 6, STREAM_ID);
    frame[at + 14] = mark;
    return bytes;
}

static struct tt_link *open_or_fail(const struct tt_link_packet_setup *setup,
                                    struct tt_link_packet_found *ret_found)
{
    struct tt_link *link = NULL;
    int rc = tt_link_packet_new(setup, &link, ret_found);

    if (rc < 0) {
        print_error("%s: step %d: %s\n", setup->ifname, (int)ret_found->step, strerror(-rc));
    }
    assert_int_equal(rc, 0);
    return link;
}

static struct tt_link *open_sender(void)
{
    struct tt_link_packet_setup setup = {.ifname = "va", .priority = 3, .send = true};
    struct tt_link_packet_found found;

    return open_or_fail(&setup, &found);
}

static struct tt_link *open_receiver(void)
{
    struct tt_link_packet_setup setup = {
        .ifname = "vb", .receive = true, .dest = dest, .stream_id = &stream_id};
    struct tt_link_packet_found found;

    return open_or_fail(&setup, &found);
}

static int send_frame(struct tt_link *link, uint8_t *frame, size_t bytes)
{
    struct tt_link_packet packet = {.data = frame, .bytes = bytes};

    return link->ops->send(link, &packet, 1);
}

static void pause_ms(long ms)
{
    struct timespec t = {.tv_nsec = ms * 1000000};

    nanosleep(&t, NULL);
}

/* Waits for one packet. */
static void receive_one(struct tt_link *link, struct tt_link_packet *packet, uint8_t *data,
                        size_t capacity)
{
    int n = 0;

    for (int ms = 0; ms < PATIENCE_MS && n == 0; ms++) {
        *packet = (struct tt_link_packet){.data = data, .bytes = capacity};
        n = link->ops->receive(link, packet, 1);
        if (n == 0) {
            pause_ms(1);
        }
    }
    assert_int_equal(n, 1);
}

static int64_t tai_now(void)
{
    struct tt_clock *clock = tt_clock_system();
    struct tt_clock_reading reading;

    clock->ops->read(clock, &reading);
    return reading.tai_ns;
}

static void test_found(void **state)
{
    struct tt_link_packet_setup setup = {
        .ifname = "vb", .receive = true, .dest = dest, .receive_buffer_bytes = 1000000};
    struct tt_link_packet_found found;
    struct tt_link *link = open_or_fail(&setup, &found);
    static const uint8_t zero[6];

    (void)state;
    for (int ms = 0; ms < PATIENCE_MS && !found.up; ms++) { /* the carrier comes a moment later */
        pause_ms(1);
        tt_link_close(link);
        link = open_or_fail(&setup, &found);
    }
    assert_true(found.up);
    assert_int_equal(found.receive_buffer_bytes, 16 * 65536); /* in blocks of 64 KiB */
    assert_int_equal(link->mtu_bytes, 1500);
    assert_int_equal(link->speed_mbps, 10000);
    assert_memory_not_equal(link->mac, zero, 6);
    assert_false(link->keeps_launch_times);
    tt_link_close(link);
}

static void refused(const char *ifname, enum tt_link_step step, int error)
{
    struct tt_link_packet_setup setup = {.ifname = ifname, .send = true};
    struct tt_link_packet_found found;
    struct tt_link *link = NULL;

    assert_int_equal(tt_link_packet_new(&setup, &link, &found), error);
    assert_int_equal(found.step, step);
    assert_null(link);
}

static void test_refused(void **state)
{
    (void)state;
    refused("nosuch0", TT_LINK_STEP_INTERFACE, -ENODEV);
    refused("", TT_LINK_STEP_INTERFACE, -ENODEV);
    refused("a-name-of-an-interface-that-is-too-long", TT_LINK_STEP_INTERFACE, -ENODEV);
    refused("lo", TT_LINK_STEP_ETHERNET, -EMEDIUMTYPE);
}

static void test_tag_and_stamp(void **state)
{
    struct tt_link *a = open_sender();
    struct tt_link *b = open_receiver();
    struct tt_link_packet packet;
    uint8_t frame[FRAME_BYTES];
    uint8_t got[FRAME_BYTES];
    int64_t before_ns = tai_now();
    int64_t first_ns;

    (void)state;
    assert_int_equal(send_frame(a, frame, build(frame, FRAME_BYTES, -1, 1)), 1);
    receive_one(b, &packet, got, sizeof(got));
    assert_int_equal(packet.bytes, FRAME_BYTES);
    assert_memory_equal(got, frame, FRAME_BYTES);
    assert_int_equal(packet.vlan_id, -1);
    assert_int_equal(packet.pcp, -1);
    assert_in_range(packet.time_tai_ns, before_ns, tai_now());
    first_ns = packet.time_tai_ns;

    assert_int_equal(send_frame(a, frame, build(frame, FRAME_BYTES, 3 << 13 | TAG_VLAN_2, 2)), 1);
    receive_one(b, &packet, got, sizeof(got));
    assert_int_equal(packet.bytes, FRAME_BYTES - 4);
    assert_memory_equal(got, frame, 12);
    assert_memory_equal(got + 12, frame + 16, FRAME_BYTES - 16);
    assert_int_equal(packet.vlan_id, TAG_VLAN_2);
    assert_int_equal(packet.pcp, 3);
    assert_in_range(packet.time_tai_ns, first_ns, tai_now());

    /* Of two tags the inner stays where it is. */
    build(frame, FRAME_BYTES, 5 << 13 | 7, 3);
    memmove(frame + 16, frame + 12, FRAME_BYTES - 16);
    assert_int_equal(send_frame(a, frame, FRAME_BYTES), 1);
    receive_one(b, &packet, got, sizeof(got));
    assert_int_equal(packet.vlan_id, 7);
    assert_int_equal(tt_get_be16(got + 12), 0x8100);
    assert_int_equal(tt_get_be16(got + 16), ETHERTYPE_AVTP);
    tt_link_close(a);
    tt_link_close(b);
}

static void test_filter(void **state)
{
    struct tt_link *a = open_sender();
    struct tt_link *b = open_receiver();
    struct tt_link_packet packet;
    uint8_t frame[FRAME_BYTES];
    uint8_t got[FRAME_BYTES];

    (void)state;
    for (int tag = -1; tag <= TAG_VLAN_2; tag += 3) {
        size_t at = tag < 0 ? 14 : 18;

        build(frame, FRAME_BYTES, tag, 1);
        frame[at + 4 + 7] ^= 1; /* another stream, by its last and its first byte */
        send_frame(a, frame, FRAME_BYTES);
        build(frame, FRAME_BYTES, tag, 1);
        frame[at + 4] ^= 1;
        send_frame(a, frame, FRAME_BYTES);
        build(frame, FRAME_BYTES, tag, 1);
        frame[5] ^= 1; /* another destination */
        send_frame(a, frame, FRAME_BYTES);
        build(frame, FRAME_BYTES, tag, 1);
        frame[0] ^= 2;
        send_frame(a, frame, FRAME_BYTES);
        build(frame, FRAME_BYTES, tag, 1);
        frame[at - 1] ^= 1; /* another protocol */
        send_frame(a, frame, FRAME_BYTES);
    }
    send_frame(a, frame, build(frame, 16, -1, 1)); /* too short for a stream ID: passes */
    send_frame(a, frame, build(frame, FRAME_BYTES, -1, 9));
    receive_one(b, &packet, got, sizeof(got));
    assert_int_equal(packet.bytes, 16);
    receive_one(b, &packet, got, sizeof(got));
    assert_int_equal(got[26], 9);
    tt_link_close(a);
    tt_link_close(b);
}

static void test_any(void **state)
{
    struct tt_link_packet_setup setup = {.ifname = "vb", .send = true, .receive = true};
    struct tt_link_packet_found found;
    struct tt_link *a = open_sender();
    struct tt_link *b = open_or_fail(&setup, &found);
    struct tt_link_packet packet;
    uint8_t frame[FRAME_BYTES];
    uint8_t got[FRAME_BYTES];

    (void)state;
    assert_int_equal(send_frame(b, frame, build(frame, FRAME_BYTES, -1, 1)), 1);
    build(frame, FRAME_BYTES, -1, 2);
    frame[0] = 0x02;
    frame[18] ^= 1;
    assert_int_equal(send_frame(a, frame, FRAME_BYTES), 1);
    receive_one(b, &packet, got, sizeof(got));
    assert_int_equal(got[26], 2); /* what it sent itself did not come in */
    packet = (struct tt_link_packet){.data = got, .bytes = sizeof(got)};
    assert_int_equal(a->ops->receive(a, &packet, 1), 0); /* and a sender receives nothing */
    tt_link_close(a);
    tt_link_close(b);
}

static void test_batch(void **state)
{
    static uint8_t frames[TT_LINK_BATCH][FRAME_BYTES];
    struct tt_link_packet packets[TT_LINK_BATCH];
    struct tt_link *a = open_sender();
    struct tt_link *b = open_receiver();
    int64_t last_ns = tai_now();
    int taken = 0;

    (void)state;
    for (int i = 0; i < TT_LINK_BATCH; i++) {
        build(frames[i], FRAME_BYTES, 2, (uint8_t)i);
        packets[i] = (struct tt_link_packet){.data = frames[i], .bytes = FRAME_BYTES};
    }
    assert_int_equal(a->ops->send(a, packets, TT_LINK_BATCH), TT_LINK_BATCH);
    for (int ms = 0; ms < PATIENCE_MS && taken < TT_LINK_BATCH; ms++) {
        int n;

        memset(frames, 0, sizeof(frames));
        for (int i = 0; i < TT_LINK_BATCH; i++) {
            packets[i] = (struct tt_link_packet){.data = frames[i], .bytes = FRAME_BYTES};
        }
        n = b->ops->receive(b, packets, TT_LINK_BATCH);
        assert_in_range(n, 0, TT_LINK_BATCH);
        for (int i = 0; i < n; i++) {
            assert_int_equal(frames[i][26], taken++);
            assert_int_equal(packets[i].vlan_id, 2);
            assert_in_range(packets[i].time_tai_ns, last_ns, tai_now());
            last_ns = packets[i].time_tai_ns;
        }
        pause_ms(n == 0);
    }
    assert_int_equal(taken, TT_LINK_BATCH);
    assert_int_equal(b->ops->receive_drops(b), 0);
    tt_link_close(a);
    tt_link_close(b);
}

static void test_sizes(void **state)
{
    static uint8_t frame[BATCH_BYTES];
    static uint8_t got[BATCH_BYTES];
    struct tt_link *a = open_sender();
    struct tt_link *b = open_receiver();
    struct tt_link_packet packet;

    (void)state;
    assert_int_equal(send_frame(a, frame, build(frame, FULL_FRAME, -1, 1)), 1);
    receive_one(b, &packet, got, sizeof(got));
    assert_int_equal(packet.bytes, FULL_FRAME);
    assert_int_equal(send_frame(a, frame, build(frame, FULL_TAGGED, 2, 2)), 1);
    receive_one(b, &packet, got, sizeof(got));
    assert_int_equal(packet.bytes, FULL_FRAME);
    assert_int_equal(packet.vlan_id, 2);
    assert_int_equal(send_frame(a, frame, build(frame, FULL_FRAME + 1, -1, 3)), -EMSGSIZE);
    assert_int_equal(send_frame(a, frame, build(frame, FULL_TAGGED + 1, 2, 3)), -EMSGSIZE);
    /* Where the memory is short, the length is still the wire's. */
    assert_int_equal(send_frame(a, frame, build(frame, 200, -1, 4)), 1);
    receive_one(b, &packet, got, 50);
    assert_int_equal(packet.bytes, 200);
    assert_memory_equal(got, frame, 50);
    tt_link_close(a);
    tt_link_close(b);
}

/* Sends until something arrives; a link that has just come up drops packets. */
static void until_it_works(struct tt_link *a, struct tt_link *b)
{
    uint8_t frame[FRAME_BYTES];
    uint8_t got[FRAME_BYTES];
    int n = 0;

    for (int ms = 0; ms < PATIENCE_MS && n != 1; ms++) {
        struct tt_link_packet packet = {.data = got, .bytes = sizeof(got)};

        send_frame(a, frame, build(frame, FRAME_BYTES, -1, 1));
        n = b->ops->receive(b, &packet, 1);
        pause_ms(1);
    }
    assert_int_equal(n, 1);
}

static void test_down_and_up(void **state)
{
    struct tt_link *a = open_sender();
    struct tt_link *b = open_receiver();
    struct tt_link_packet packet;
    struct tt_link_packet_setup setup = {.ifname = "va", .send = true};
    struct tt_link_packet_found found;
    uint8_t frame[FRAME_BYTES];
    uint8_t got[FRAME_BYTES];

    (void)state;
    until_it_works(a, b);
    assert_int_equal(netns_run("ip link set va down"), 0);
    assert_int_equal(netns_run("ip link set vb down"), 0);
    build(frame, FRAME_BYTES, -1, 1);
    assert_int_equal(send_frame(a, frame, FRAME_BYTES), -ENETDOWN);
    assert_int_equal(send_frame(a, frame, FRAME_BYTES), -ENETDOWN);
    packet = (struct tt_link_packet){.data = got, .bytes = sizeof(got)};
    while (b->ops->receive(b, &packet, 1) == 1) {
        packet = (struct tt_link_packet){.data = got, .bytes = sizeof(got)};
    }
    tt_link_close(open_or_fail(&setup, &found));
    assert_false(found.up);
    assert_int_equal(netns_run("ip link set va up"), 0);
    assert_int_equal(netns_run("ip link set vb up"), 0);
    until_it_works(a, b);
    tt_link_close(a);
    tt_link_close(b);
}

/* What went wrong while the link was down is not told of the first packet after it. */
static void test_first_after_up(void **state)
{
    struct tt_link_packet_setup setup = {.ifname = "va", .send = true, .receive = true};
    struct tt_link_packet_found found;
    struct tt_link *a = open_or_fail(&setup, &found);
    uint8_t frame[FRAME_BYTES];

    (void)state;
    assert_true(a->ops->is_up(a));
    assert_int_equal(netns_run("ip link set va down"), 0);
    assert_false(a->ops->is_up(a));
    assert_int_equal(netns_run("ip link set va up"), 0);
    for (int ms = 0; ms < PATIENCE_MS && !a->ops->is_up(a); ms++) {
        pause_ms(1);
    }
    assert_true(a->ops->is_up(a));
    assert_int_equal(send_frame(a, frame, build(frame, FRAME_BYTES, -1, 1)), 1);
    tt_link_close(a);
}

/* The program's own packet socket. */
static int packet_socket(void)
{
    for (int fd = 0; fd < 1000; fd++) {
        int domain = 0;
        socklen_t bytes = sizeof(domain);

        if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) == 0 && domain == AF_PACKET) {
            return fd;
        }
    }
    return -1;
}

static void test_priority(void **state)
{
    struct tt_link *a = open_sender();
    int priority = -1;
    socklen_t bytes = sizeof(priority);

    (void)state;
    assert_int_equal(getsockopt(packet_socket(), SOL_SOCKET, SO_PRIORITY, &priority, &bytes), 0);
    assert_int_equal(priority, 3);
    tt_link_close(a);
}

static bool says(const char *command, const char *text)
{
    char output[2048];
    FILE *pipe = popen(command, "r");
    size_t bytes = pipe ? fread(output, 1, sizeof(output) - 1, pipe) : 0;

    output[bytes] = 0;
    return pipe && pclose(pipe) == 0 && strstr(output, text);
}

/* Of the stream's address, or of all multicast where no address is given; never everything. */
static void test_membership(void **state)
{
    struct tt_link_packet_setup setup = {.ifname = "vb", .receive = true};
    struct tt_link_packet_found found;
    struct tt_link *b = open_receiver();

    (void)state;
    assert_true(says("ip maddress show dev vb", "91:e0:f0:00:fe:01"));
    assert_true(says("ip -d link show dev vb", "promiscuity 0"));
    assert_true(says("ip -d link show dev vb", "allmulti 0"));
    tt_link_close(b);
    assert_false(says("ip maddress show dev vb", "91:e0:f0:00:fe:01"));
    b = open_or_fail(&setup, &found);
    assert_true(says("ip -d link show dev vb", "promiscuity 0"));
    assert_true(says("ip -d link show dev vb", "allmulti 1"));
    tt_link_close(b);
}

static void test_drops(void **state)
{
    struct tt_link_packet_setup setup = {
        .ifname = "vb", .receive = true, .dest = dest, .receive_buffer_bytes = 1};
    struct tt_link_packet_found found;
    struct tt_link *a = open_sender();
    struct tt_link *b = open_or_fail(&setup, &found);
    struct tt_link_packet packet;
    uint8_t frame[FRAME_BYTES];
    uint8_t got[FRAME_BYTES];
    unsigned kept = 0;

    (void)state;
    assert_in_range(found.receive_buffer_bytes, 65536, 5 * 65536); /* the least there is */
    for (int i = 0; i < 300; i++) {
        assert_int_equal(send_frame(a, frame, build(frame, FRAME_BYTES, -1, 1)), 1);
    }
    packet = (struct tt_link_packet){.data = got, .bytes = sizeof(got)};
    for (; b->ops->receive(b, &packet, 1) == 1; kept++) {
        assert_int_equal(b->ops->receive_drops(b), 0); /* these came before any was lost */
        packet.bytes = sizeof(got);
    }
    assert_in_range(kept, 128, 250);
    send_frame(a, frame, build(frame, FRAME_BYTES, -1, 1));
    receive_one(b, &packet, got, sizeof(got));
    assert_int_equal(b->ops->receive_drops(b), 300 - kept);
    assert_int_equal(b->ops->receive_drops(b), 0); /* since the last call */
    tt_link_close(a);
    tt_link_close(b);
}

/* Packets that a qdisc holds are counted, and are missed when they vanish with it. */
static void test_waiting(void **state)
{
    struct tt_link_packet_setup setup = {
        .ifname = "va", .priority = 3, .send = true, .launch_times = true};
    struct tt_link_packet_found found;
    struct tt_link *a = open_or_fail(&setup, &found);
    static uint8_t frame[FULL_FRAME];

    (void)state;
    assert_int_equal(a->ops->waiting(a), -1); /* what one packet is charged is not known yet */
    if (netns_run("tc qdisc add dev va root tbf rate 8kbit burst 1600 limit 100000") != 0) {
        print_message("the kernel has no qdisc that holds packets back (tbf)\n");
        tt_link_close(a);
        skip();
    }
    for (int i = 0; i < 6; i++) {
        struct tt_link_packet packet = {.data = frame,
                                        .bytes = build(frame, FULL_FRAME, -1, 1),
                                        .time_tai_ns = tai_now() + 1000000};

        assert_int_equal(a->ops->send(a, &packet, 1), 1);
    }
    assert_int_equal(a->ops->waiting(a), 5); /* the first is within the burst */
    assert_int_equal(netns_run("tc qdisc del dev va root"), 0);
    for (int ms = 0; ms < PATIENCE_MS && a->ops->waiting(a) > 0; ms++) {
        pause_ms(1);
    }
    assert_int_equal(a->ops->waiting(a), 0);
    tt_link_close(a);
}

static void test_launch_times(void **state)
{
    struct tt_link_packet_setup setup = {
        .ifname = "va", .priority = 7, .send = true, .launch_times = true};
    struct tt_link_packet_found found;
    struct tt_link *a = open_or_fail(&setup, &found);
    struct tt_link *b = open_receiver();
    struct tt_link_errors errors = {0};
    struct tt_link_packet packet;
    uint8_t frame[FRAME_BYTES];
    uint8_t got[FRAME_BYTES];

    (void)state;
    assert_true(a->keeps_launch_times);
    build(frame, FRAME_BYTES, -1, 1);
    packet = (struct tt_link_packet){
        .data = frame, .bytes = FRAME_BYTES, .time_tai_ns = tai_now() + 1000000};
    assert_int_equal(a->ops->send(a, &packet, 1), 1);
    receive_one(b, &packet, got, sizeof(got));
    a->ops->collect_errors(a, &errors);
    assert_int_equal(errors.launch_invalid + errors.launch_missed + errors.other, 0);
    tt_link_close(a);
    tt_link_close(b);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),          cmocka_unit_test(test_refused),
        cmocka_unit_test(test_down_and_up),    cmocka_unit_test(test_tag_and_stamp),
        cmocka_unit_test(test_filter),         cmocka_unit_test(test_any),
        cmocka_unit_test(test_batch),          cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_first_after_up), cmocka_unit_test(test_priority),
        cmocka_unit_test(test_membership),     cmocka_unit_test(test_drops),
        cmocka_unit_test(test_launch_times),   cmocka_unit_test(test_waiting),
    };

    if (!netns_enter(argc > 1 && strcmp(argv[1], "rootless") == 0)) {
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
