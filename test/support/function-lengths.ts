/**
 * Reads functions, their lengths and their parameters from the text of a source. It relies on the formatter's layout.
 */

export interface FunctionLength {
  readonly line: number;
  readonly name: string;
  /** The number of lines from the name to the closing brace. */
  readonly lines: number;
}

/** Matches the part before the parameters in a line that ends with an opening brace. */
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

export interface ParameterCount {
  readonly line: number;
  /** The text between the line's start and the parameters. */
  readonly head: string;
  readonly parameters: number;
}

/** Matches text that cannot contain parameters: comments, strings and regular expressions. */
const OPAQUE =
  /\/\*[\s\S]*?\*\/|\/\/.*$|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|(?<=[=(,:?!&|] ?)\/(?![/*])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//gm;
/** The first parameter of a declaration has a type or a default; the first argument of a call has neither. */
const DECLARED = /^\s*(?:(?:private|protected|public|readonly) )*(?:\.\.\.)?(?:[\w$]+|\{[^:]*\}|\[[^:]*\])\??(?::| = )/;

/** The functions, methods, constructors and function types of a source, and how many parameters each has. */
export function parameterCounts(text: string): ParameterCount[] {
  const code = text.replace(OPAQUE, (opaque) => opaque.replace(/[^\n]/g, ' '));
  return [...code.matchAll(/\(/g)].flatMap(({ index }) => {
    const { parts, end } = partsFrom(code, index);
    if (!DECLARED.test(parts[0] ?? '') && !code.startsWith(' =>', end)) return [];
    const line = code.slice(0, index).split('\n').length;
    const head = code.slice(code.lastIndexOf('\n', index) + 1, index).trim();
    return [{ line, head, parameters: parts.filter((part) => part.trim() !== '').length }];
  });
}

/** Splits the text between two brackets at its outermost commas, and returns the parts and the end of the text. */
function partsFrom(code: string, open: number): { readonly parts: string[]; readonly end: number } {
  const parts: string[] = [];
  let depth = 0;
  let begin = open + 1;
  for (let at = open; at < code.length; at += 1) {
    const letter = code[at] as string;
    const opensType = letter === '<' && /\w/.test(code[at - 1] as string);
    const closesType = letter === '>' && /[^\s=]/.test(code[at - 1] as string);
    if ('([{'.includes(letter) || opensType) depth += 1;
    else if (')]}'.includes(letter) || closesType) depth -= 1;
    const isOver = depth === 0;
    if (!isOver && !(letter === ',' && depth === 1)) continue;
    parts.push(code.slice(begin, at));
    begin = at + 1;
    if (isOver) return { parts, end: begin };
  }
  return { parts: [], end: code.length };
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
