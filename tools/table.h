/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text in aligned columns. All rows are collected before they are printed, so
 * that the columns are as wide as their contents.
 */
#ifndef OMX_TOOLS_TABLE_H
#define OMX_TOOLS_TABLE_H

#include <stdio.h>

#define TABLE_COLUMNS_MAX 10

struct table {
	unsigned int columns;
	unsigned int right;	/* bit N is set if column N is aligned to the right */
	char **cell;		/* row after row */
	size_t rows;
};

/* The first row is the heading. */
void table_init(struct table *table, unsigned int right, const char *const *heading);

/* Copies one string per column. The program ends when there is no memory. */
void table_add(struct table *table, const char *const *row);

/* Each line starts with `indent`. */
void table_print(const struct table *table, const char *indent, FILE *out);
void table_free(struct table *table);

#endif
