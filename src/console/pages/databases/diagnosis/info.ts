/** Parses the text of INFO into sections. */

export interface InfoSection {
  readonly name: string;
  readonly lines: readonly (readonly [word: string, value: string])[];
}

/** Omits empty sections. */
export function sectionsOf(text: string): readonly InfoSection[] {
  return text
    .split(/^# /m)
    .map((part) => {
      const [name = '', ...lines] = part.split('\r\n');
      return { name, lines: lines.filter((line) => line.includes(':')).map(pairOf) };
    })
    .filter(({ lines }) => lines.length > 0);
}

function pairOf(line: string): readonly [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1)];
}
