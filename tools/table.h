/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text in aligned columns: rows are collected, widths follow the contents.
 */
#ifndef OMX_TOOLS_TABLE_H
#define OMX_TOOLS_TABLE_H

#include <stdio.h>

#define TABLE_COLUMNS_MAX 10

struct table {
	unsigned int columns;
	unsigned int right;	/* bit per column: aligned to the right */
	char **cell;		/* row after row */
	size_t rows;
};

/* The first row is the heading. */
void table_init(struct table *table, unsigned int right, const char *const *heading);

/* One string per column, copied.  Out of memory ends the program. */
void table_add(struct table *table, const char *const *row);

/* Each line starts with `indent`. */
void table_print(const struct table *table, const char *indent, FILE *out);
void table_free(struct table *table);

#endif
