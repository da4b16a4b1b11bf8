/** The text format of metrics scrapers: families of samples, one line each. */

type MetricType = 'counter' | 'gauge';

export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType;
  readonly samples: readonly Sample[];
}

export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Families of one object, and the labels that distinguish it. */
export interface Labelled {
  readonly families: readonly Family[];
  readonly labels: Readonly<Record<string, string>>;
}

/** One family per name, with the samples of all objects, as the format requires. */
export function merged(things: readonly Labelled[]): Family[] {
  const byName = new Map<string, Family & { readonly samples: Sample[] }>();
  for (const { families, labels } of things) {
    for (const family of families) {
      const known = byName.get(family.name) ?? { ...family, samples: [] };
      for (const sample of family.samples) {
        known.samples.push({ value: sample.value, labels: { ...labels, ...sample.labels } });
      }
      byName.set(family.name, known);
    }
  }
  return [...byName.values()];
}

/** Omits families without samples. */
export function expositionOf(families: readonly Family[]): string {
  let text = '';
  for (const { name, help, type, samples } of families) {
    if (samples.length === 0) continue;
    text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
    for (const { labels, value } of samples) text += `${name}${labelled(labels ?? {})} ${value}\n`;
  }
  return text;
}

function labelled(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return `{${pairs.join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
