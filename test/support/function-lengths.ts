/** The functions of a source and how long they are, read from its text: a formatter has laid it out. */

export interface FunctionLength {
  readonly line: number;
  readonly name: string;
  /** From its name to its closing brace. */
  readonly lines: number;
}

/** Of a line that ends in an opening brace: what comes before the parameters. */
const HEAD = /^ *(?:[a-z]+ )*(?:function\*? ?)?[*#]*([\w$]*)[<(]/;
const NO_FUNCTION = /^ *(?:\} )?(?:if|for|while|switch|catch|else|do|try|return|throw)\b|\b(?:class|interface) /;

export function functionLengths(text: string): FunctionLength[] {
  const lines = text.split('\n');
  return lines.flatMap((line, at) => {
    if (!/ \{$/.test(line)) return [];
    const indent = indentOf(line);
    const isTail = /^ *[)\]]/.test(line);
    const first = isTail ? lines.findLastIndex((above, place) => place < at && indentOf(above) === indent) : at;
    const head = lines[first] as string;
    const isArrow = line.endsWith('=> {');
    const name = HEAD.exec(head)?.[1];
    if (!isArrow && (name === undefined || NO_FUNCTION.test(head))) return [];
    const last = lines.findIndex(
      (below, place) => place > at && below.startsWith('}', indent) && indentOf(below) === indent,
    );
    return [{ line: first + 1, name: name ?? head.trim(), lines: last - first + 1 }];
  });
}

/** How many parameters the constructors of a source have, one after the other. */
export function constructorParameters(text: string): number[] {
  return [...text.matchAll(/^ +(?:private )?constructor\(([\s\S]*?)\) \{\}?$/gm)].map(([, inside = '']) => {
    let parameters = inside.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$|=>/gm, '');
    // Commas within brackets part no parameters.
    for (let before = ''; before !== parameters; ) {
      before = parameters;
      parameters = parameters.replaceAll(/\([^()]*\)|\{[^{}]*\}|<[^<>]*>|\[[^[\]]*\]/g, '');
    }
    return parameters.split(',').filter((parameter) => parameter.trim() !== '').length;
  });
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
