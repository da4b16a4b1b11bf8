/** One page of metrics for all workers: the samples of each have its number as a label. */

/** A metric's name, from its `# HELP` line to the next metric. */
const BLOCK = /^# HELP (\S+) .*\n(?:# TYPE .*\n)?/;

/** @param pages with labels that tell the workers apart. @returns a page in which each metric is declared once */
export function joinedPages(pages: readonly string[]): string {
  const blocks = new Map<string, { readonly head: string; samples: string }>();
  for (const page of pages) {
    for (const block of page.split(/^(?=# HELP )/m)) {
      const [head, name] = BLOCK.exec(block) ?? [];
      if (head === undefined || name === undefined) continue;
      const known = blocks.get(name) ?? { head, samples: '' };
      known.samples += block.slice(head.length).replace(/\n+$/, '\n');
      blocks.set(name, known);
    }
  }
  return [...blocks.values()].map(({ head, samples }) => head + samples).join('\n');
}
