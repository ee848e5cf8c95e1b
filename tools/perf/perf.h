/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef OMX_PERF_PERF_H
#define OMX_PERF_PERF_H

struct link;
struct settings;

/* The two sides.  0, or -1 once the reason is printed. */
int client_run(struct link *link, const struct settings *settings);
int server_run(struct link *link, const struct settings *settings);

#endif
