/** A table for a person, with columns as wide as their content. */
export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [columns, ...rows];
  const widths = columns.map((_, column) => Math.max(...lines.map((cells) => (cells[column] as string).length)));
  return lines
    .map(
      (cells) =>
        `${cells
          .map((cell, column) => cell.padEnd(widths[column] as number))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
