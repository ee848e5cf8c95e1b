/* SPDX-License-Identifier: BSD-2-Clause */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

void table_init(struct table *table, unsigned int right, const char *const *heading)
{
	memset(table, 0, sizeof(*table));
	table->right = right;
	while (table->columns < TABLE_COLUMNS_MAX && heading[table->columns])
		table->columns++;
	table_add(table, heading);
}

void table_add(struct table *table, const char *const *row)
{
	size_t used = table->rows * table->columns;
	unsigned int i;
	char **grown;

	grown = reallocarray(table->cell, used + table->columns, sizeof(*grown));
	if (!grown)
		err(1, "table");
	table->cell = grown;
	for (i = 0; i < table->columns; i++) {
		grown[used + i] = strdup(row[i]);
		if (!grown[used + i])
			err(1, "table");
	}
	table->rows++;
}

static int column_width(const struct table *table, unsigned int column)
{
	size_t row, width = 0;

	for (row = 0; row < table->rows; row++) {
		size_t length = strlen(table->cell[row * table->columns + column]);

		if (length > width)
			width = length;
	}
	return width;
}

static void print_row(const struct table *table, size_t row, const int *width,
		      FILE *out)
{
	char **cell = table->cell + row * table->columns;
	unsigned int i;

	for (i = 0; i < table->columns; i++) {
		if (i)
			fputs("  ", out);
		if (table->right & (1u << i))
			fprintf(out, "%*s", width[i], cell[i]);
		else if (i + 1 < table->columns)
			fprintf(out, "%-*s", width[i], cell[i]);
		else
			fputs(cell[i], out);
	}
	fputc('\n', out);
}

void table_print(const struct table *table, const char *indent, FILE *out)
{
	int width[TABLE_COLUMNS_MAX];
	unsigned int i;
	size_t row;

	for (i = 0; i < table->columns; i++)
		width[i] = column_width(table, i);
	for (row = 0; row < table->rows; row++) {
		fputs(indent, out);
		print_row(table, row, width, out);
	}
}

void table_free(struct table *table)
{
	size_t i;

	for (i = 0; i < table->rows * table->columns; i++)
		free(table->cell[i]);
	free(table->cell);
	memset(table, 0, sizeof(*table));
}
