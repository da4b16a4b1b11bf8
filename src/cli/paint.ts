/** Coloured text, only on a terminal and without NO_COLOR (https://no-color.org). */
const CODES = { green: 32, yellow: 33, red: 31, cyan: 36, grey: 90, bold: 1 } as const;

export type Colour = keyof typeof CODES;

export function paint({ isTTY }: Pick<NodeJS.WriteStream, 'isTTY'>, colour: Colour, text: string): string {
  const { NO_COLOR: none = '', TERM: terminal = '' } = process.env;
  const isPlain = !isTTY || none !== '' || terminal === 'dumb';
  return isPlain ? text : `\u001b[${CODES[colour]}m${text}\u001b[0m`;
}
