/*
 * The commands of `tactus gate`.
 */
#ifndef TT_CLI_CMD_GATE_H
#define TT_CLI_CMD_GATE_H

int tt_cmd_gate_apply(int argc, char **argv);
int tt_cmd_gate_check(int argc, char **argv);
int tt_cmd_gate_plan(int argc, char **argv);
int tt_cmd_gate_shape(int argc, char **argv);
int tt_cmd_gate_show(int argc, char **argv);
int tt_cmd_gate_simulate(int argc, char **argv);
int tt_cmd_gate_verify(int argc, char **argv);

#endif
