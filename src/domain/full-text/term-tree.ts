/**
 * A radix tree of terms: finds those with a prefix, and those within some changes of a word.
 *
 *  TRT1 the found terms and distances are those of a comparison with every term
 */
import { SLICE_COMPARISONS } from './limits.js';

/** More than any distance. */
const FAR = 65_535;

interface TreeNode<T> {
  label: string;
  children: Map<string, TreeNode<T>> | undefined;
  term: T | undefined;
}

export interface NearTerm<T> {
  readonly term: T;
  readonly distance: number;
}

export interface Nearness {
  /** The most changed, added or missing characters. */
  readonly distance: number;
  /** Two swapped neighbours are one change instead of two. */
  readonly isSwapOne: boolean;
  /** Compare with the beginnings of terms: the distance of a term is that of its nearest beginning. */
  readonly isPrefix: boolean;
}

interface Visit<T> {
  readonly node: TreeNode<T>;
  /** The distances of the path to each beginning of the word. */
  readonly row: Uint16Array;
  readonly before: Uint16Array | undefined;
  readonly last: string;
  /** The least distance of the whole word to a beginning of the path. */
  readonly best: number;
}

export class TermTree<T> {
  readonly #root: TreeNode<T> = { label: '', children: undefined, term: undefined };

  set(text: string, term: T): void {
    let node = this.#root;
    let at = 0;
    while (at < text.length) {
      const child = node.children?.get(text[at] as string);
      if (child === undefined) {
        addChild(node, { label: text.slice(at), children: undefined, term });
        return;
      }
      const shared = sharedLength(child.label, text, at);
      node = shared < child.label.length ? split(node, child, shared) : child;
      at += shared;
    }
    node.term = term;
  }

  /** All terms with the prefix, itself included, in no order. */
  *withPrefix(prefix: string): Iterable<T> {
    let node = this.#root;
    let at = 0;
    while (at < prefix.length) {
      const child = node.children?.get(prefix[at] as string);
      if (child === undefined) return;
      const shared = sharedLength(child.label, prefix, at);
      if (at + shared < prefix.length && shared < child.label.length) return;
      node = child;
      at += shared;
    }
    yield* termsBelow(node);
  }

  /** The terms near the word, in slices. @param distance at most 2 */
  *near(word: string, { distance, isSwapOne, isPrefix }: Nearness): Generator<void, NearTerm<T>[]> {
    const found: NearTerm<T>[] = [];
    const first = Uint16Array.from({ length: word.length + 1 }, (_, index) => index);
    const open: Visit<T>[] = [
      { node: this.#root, row: first, before: undefined, last: '', best: isPrefix ? word.length : FAR },
    ];
    let compared = 0;
    for (let visit = open.pop(); visit !== undefined; visit = open.pop()) {
      compared += word.length + 1;
      if (compared >= SLICE_COMPARISONS) {
        compared = 0;
        yield;
      }
      let { row, before, last, best } = visit;
      const { node } = visit;
      let isOut = false;
      for (let at = 0; at < node.label.length; at += 1) {
        const character = node.label[at] as string;
        // A path that is near enough already has only near terms below it.
        if (isPrefix && best === 0) break;
        const next = nextRow(word, row, isSwapOne ? before : undefined, character, last);
        compared += word.length + 1;
        before = row;
        row = next;
        last = character;
        const whole = row[word.length] as number;
        if (isPrefix && whole < best) best = whole;
        if (leastOf(row) > distance && leastOf(before) > distance && best > distance) {
          isOut = true;
          break;
        }
      }
      if (isOut) continue;
      const own = isPrefix ? best : (row[word.length] as number);
      if (node.term !== undefined && own <= distance) found.push({ term: node.term, distance: own });
      for (const child of node.children?.values() ?? []) open.push({ node: child, row, before, last, best });
    }
    return found;
  }
}

function* termsBelow<T>(top: TreeNode<T>): Iterable<T> {
  const open = [top];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.term !== undefined) yield node.term;
    for (const child of node.children?.values() ?? []) open.push(child);
  }
}

function sharedLength(label: string, text: string, from: number): number {
  let length = 1;
  while (length < label.length && from + length < text.length && label[length] === text[from + length]) length += 1;
  return length;
}

/** Puts a node for the first `length` characters of the child's label between the two. */
function split<T>(parent: TreeNode<T>, child: TreeNode<T>, length: number): TreeNode<T> {
  const middle: TreeNode<T> = { label: child.label.slice(0, length), children: undefined, term: undefined };
  addChild(parent, middle);
  child.label = child.label.slice(length);
  addChild(middle, child);
  return middle;
}

function addChild<T>(parent: TreeNode<T>, child: TreeNode<T>): void {
  parent.children ??= new Map();
  parent.children.set(child.label[0] as string, child);
}

/**
 * The distances of a path with one more character. With the row `before` the last one, two swapped neighbours count as
 * one change.
 */
function nextRow(
  word: string,
  row: Uint16Array,
  before: Uint16Array | undefined,
  character: string,
  last: string,
): Uint16Array {
  const next = new Uint16Array(row.length);
  next[0] = (row[0] as number) + 1;
  for (let at = 1; at < row.length; at += 1) {
    const isSame = word[at - 1] === character;
    let least = (row[at - 1] as number) + (isSame ? 0 : 1);
    least = Math.min(least, (row[at] as number) + 1, (next[at - 1] as number) + 1);
    const isSwapped = at > 1 && word[at - 2] === character && word[at - 1] === last;
    if (before !== undefined && isSwapped) least = Math.min(least, (before[at - 2] as number) + 1);
    next[at] = least;
  }
  return next;
}

function leastOf(row: Uint16Array): number {
  let least = FAR;
  for (const value of row) if (value < least) least = value;
  return least;
}
