/*
 * Reads a capture through libpcap and prints what the parsers make of it: a line per packet,
 * name=value pairs under the names of tshark's ieee1722 dissector. check_decode.py compares the
 * two.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <pcap/pcap.h>

#include "audio/aaf.h"
#include "audio/avtp.h"
#include "audio/crf.h"
#include "audio/eth.h"
#include "base/bytes.h"

struct packet {
    const uint8_t *bytes;
    size_t captured;
    size_t on_wire;
};

static void print_hex(const char *name, const uint8_t *bytes, size_t n)
{
    printf(" %s=", name);
    for (size_t i = 0; i < n; i++)
        printf("%02x", bytes[i]);
}

static void print_eth(const struct tt_eth *eth)
{
    char mac[TT_MAC_TEXT];

    printf(" eth.dst=%s", tt_mac_format(eth->dest, mac));
    printf(" eth.src=%s", tt_mac_format(eth->src, mac));
    if (eth->vlan_id >= 0)
        printf(" vlan.id=%d vlan.priority=%d", eth->vlan_id, eth->pcp);
}

static void print_aaf(const struct packet *pdu)
{
    struct tt_aaf aaf;
    enum tt_aaf_reason reason = tt_aaf_parse(pdu->bytes, pdu->on_wire, &aaf);

    if (reason != TT_AAF_OK) {
        printf(" refused=\"%s\"", tt_aaf_reason_text(reason));
        return;
    }
    printf(" aaf.mrfield=%d aaf.tvfield=%d aaf.seqnum=%d aaf.tufield=%d", aaf.mr, aaf.tv,
           aaf.sequence, aaf.tu);
    printf(" aaf.stream_id=%" PRIu64 " aaf.avtp_timestamp=%" PRIu32, aaf.stream_id, aaf.timestamp);
    printf(" aaf.format_info=%d aaf.nominal_sample_rate=%u", aaf.format, tt_aaf_nsr(aaf.rate_hz));
    printf(" aaf.channels_per_frame=%u aaf.bit_depth=%u", aaf.channels, aaf.bit_depth);
    printf(" aaf.stream_data_len=%zu aaf.sparse_timestamp=%d aaf.evtfield=%d", aaf.payload_bytes,
           aaf.sp, aaf.evt);
    if (TT_AAF_HEADER_BYTES + aaf.payload_bytes <= pdu->captured)
        print_hex("aaf.data", aaf.payload, aaf.payload_bytes);
}

static void print_crf(const struct packet *pdu)
{
    struct tt_crf crf;
    enum tt_crf_reason reason = tt_crf_parse(pdu->bytes, pdu->captured, &crf);

    if (reason != TT_CRF_OK) {
        printf(" refused=\"%s\"", tt_crf_reason_text(reason));
        return;
    }
    printf(" crf.mrfield=%d crf.fsfield=%d crf.tufield=%d crf.seqnum=%d", crf.mr, crf.fs, crf.tu,
           crf.sequence);
    printf(" crf.type=%d crf.stream_id=%" PRIu64 " crf.pull=%d", crf.type, crf.stream_id, crf.pull);
    printf(" crf.base_frequency=%" PRIu32 " crf.data_len=%zu crf.timestamp_interval=%u",
           crf.base_hz, crf.timestamp_count * 8, crf.timestamp_interval);
    for (size_t i = 0; i < crf.timestamp_count; i++)
        printf("%s%" PRIu64, i == 0 ? " crf.timestamp=" : ",", tt_get_be64(crf.timestamps + 8 * i));
}

static void print_packet(const struct packet *frame)
{
    struct tt_eth eth;
    struct tt_avtp avtp;
    struct packet pdu;

    if (tt_eth_parse(frame->bytes, frame->captured, &eth) != 0)
        return;
    print_eth(&eth);
    if (eth.ethertype != TT_ETHERTYPE_AVTP)
        return;
    pdu = (struct packet){frame->bytes + eth.header_bytes, frame->captured - eth.header_bytes,
                          frame->on_wire - eth.header_bytes};
    if (tt_avtp_parse(pdu.bytes, pdu.captured, &avtp) != 0)
        return;
    printf(" ieee1722.subtype=%d ieee1722.svfield=%d ieee1722.verfield=%d", avtp.subtype, avtp.sv,
           avtp.version);
    if (avtp.subtype == TT_AVTP_SUBTYPE_AAF)
        print_aaf(&pdu);
    else if (avtp.subtype == TT_AVTP_SUBTYPE_CRF)
        print_crf(&pdu);
}

int main(int argc, char **argv)
{
    char error[PCAP_ERRBUF_SIZE];
    struct pcap_pkthdr *header;
    const u_char *bytes;
    pcap_t *pcap;
    int got;

    if (argc != 2) {
        fprintf(stderr, "usage: decode_fields CAPTURE\n");
        return 2;
    }
    pcap = pcap_open_offline(argv[1], error);
    if (!pcap || pcap_datalink(pcap) != DLT_EN10MB) {
        fprintf(stderr, "%s: %s\n", argv[1], pcap ? "not Ethernet" : error);
        return 2;
    }
    for (int number = 1; (got = pcap_next_ex(pcap, &header, &bytes)) == 1; number++) {
        printf("frame.number=%d", number);
        print_packet(&(struct packet){bytes, header->caplen, header->len});
        printf("\n");
    }
    pcap_close(pcap);
    return got == PCAP_ERROR_BREAK ? 0 : 1;
}
