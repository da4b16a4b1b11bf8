/**
 * Members in the order of their scores: a counted B+-tree. Insert, delete, rank and the entry at a rank
 * take O(log n), and nothing larger than a node is ever moved.
 *
 * Invariants
 *  SCT1 entries are in the order of (score, bytes of the member), and no two are equal in both
 *  SCT2 a branch knows the size of each child, and a key that is not above any of the child's entries and above all of
 *       its left sibling's
 *  SCT3 all leaves are at the same depth, linked in order; none but a lone root is empty
 *  SCT4 scores are never NaN
 */
import type { ByteString } from '../../../kernel/index.js';

/** Entries of a leaf: moving half of them costs about as much as finding the place. */
export const MAX_LEAF_ENTRIES = 64;
/** Children of a branch; four levels hold ten million entries. */
const MAX_CHILDREN = 64;
/** A node that has lost this many joins a neighbour, if both together leave room to grow. */
const FEW = 16;
const ROOMY = 48;

class Leaf {
  readonly members: ByteString[] = [];
  readonly scores: number[] = [];
  next: Leaf | undefined = undefined;
  previous: Leaf | undefined = undefined;
}

class Branch {
  readonly children: Node[] = [];
  readonly sizes: number[] = [];
  /** Below the first child nothing is bounded; its key is there to keep the places aligned. */
  readonly leastScores: number[] = [];
  readonly leastMembers: ByteString[] = [];
}

type Node = Leaf | Branch;

/** Does the entry stand before what is looked for? True for a first part of the order, false for the rest. */
export type IsBefore = (score: number, member: ByteString) => boolean;

export class ScoreTree {
  #root: Node = new Leaf();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The score of a member, found by looking at every entry of a tree that is a single leaf; undefined in a larger one. */
  scoreInLoneLeaf(member: ByteString): number | undefined {
    const root = this.#root;
    if (!(root instanceof Leaf)) return undefined;
    const at = root.members.indexOf(member);
    return at < 0 ? undefined : root.scores[at];
  }

  /** Adds an entry that is not there yet (SCT1). */
  insert(score: number, member: ByteString): void {
    const root = this.#root;
    const right = insertInto(root, score, member);
    this.#size += 1;
    if (right === undefined) return;
    const grown = new Branch();
    putChild(grown, 0, root);
    putChild(grown, 1, right);
    this.#root = grown;
  }

  /** False if there is no such entry. */
  delete(score: number, member: ByteString): boolean {
    if (!deleteFrom(this.#root, score, member)) return false;
    this.#size -= 1;
    while (this.#root instanceof Branch && this.#root.children.length <= 1) {
      this.#root = this.#root.children[0] ?? new Leaf();
    }
    return true;
  }

  /** How many entries stand before this one, whether it is there or not. */
  rankOf(score: number, member: ByteString): number {
    let node = this.#root;
    let rank = 0;
    while (node instanceof Branch) {
      const at = childFor(node, score, member);
      const { sizes } = node;
      for (let i = 0; i < at; i += 1) rank += sizes[i] as number;
      node = node.children[at] as Node;
    }
    return rank + placeIn(node, score, member);
  }

  countWhile(isBefore: IsBefore): number {
    let node = this.#root;
    let rank = 0;
    while (node instanceof Branch) {
      const { leastScores, leastMembers, sizes } = node;
      let low = 0;
      let high = leastScores.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >>> 1;
        if (isBefore(leastScores[middle] as number, leastMembers[middle] as ByteString)) low = middle;
        else high = middle - 1;
      }
      for (let i = 0; i < low; i += 1) rank += sizes[i] as number;
      node = node.children[low] as Node;
    }
    let low = 0;
    let high = node.scores.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBefore(node.scores[middle] as number, node.members[middle] as ByteString)) low = middle + 1;
      else high = middle;
    }
    return rank + low;
  }

  /** Visits the entries from rank `from` to before rank `to`. The tree must not be changed meanwhile. */
  walk(from: number, to: number, visit: (member: ByteString, score: number) => void): void {
    let left = Math.min(to, this.#size) - from;
    if (left <= 0) return;
    let { leaf, at } = this.#locate(from);
    for (; leaf !== undefined && left > 0; leaf = leaf.next, at = 0) {
      for (; at < leaf.members.length && left > 0; at += 1, left -= 1) {
        visit(leaf.members[at] as ByteString, leaf.scores[at] as number);
      }
    }
  }

  /** The same entries, the last of them first. */
  walkBack(from: number, to: number, visit: (member: ByteString, score: number) => void): void {
    const end = Math.min(to, this.#size);
    let left = end - from;
    if (left <= 0) return;
    let { leaf, at } = this.#locate(end - 1);
    while (leaf !== undefined && left > 0) {
      for (; at >= 0 && left > 0; at -= 1, left -= 1) visit(leaf.members[at] as ByteString, leaf.scores[at] as number);
      leaf = leaf.previous;
      at = (leaf?.members.length ?? 0) - 1;
    }
  }

  /** @param rank from 0 to `size` - 1 */
  #locate(rank: number): { leaf: Leaf | undefined; at: number } {
    let node = this.#root;
    let at = rank;
    while (node instanceof Branch) {
      let child = 0;
      while (at >= (node.sizes[child] as number)) {
        at -= node.sizes[child] as number;
        child += 1;
      }
      node = node.children[child] as Node;
    }
    return { leaf: node, at };
  }
}

function sizeOf(node: Node): number {
  if (node instanceof Leaf) return node.members.length;
  let size = 0;
  for (const each of node.sizes) size += each;
  return size;
}

/** How many entries of the leaf stand before this one. */
function placeIn({ scores, members }: Leaf, score: number, member: ByteString): number {
  let low = 0;
  let high = scores.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const there = scores[middle] as number;
    if (there < score || (there === score && (members[middle] as ByteString) < member)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The child the entry belongs to: the last whose least key is not above it, or the first. */
function childFor({ leastScores, leastMembers }: Branch, score: number, member: ByteString): number {
  let low = 0;
  let high = leastScores.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    const there = leastScores[middle] as number;
    if (there < score || (there === score && (leastMembers[middle] as ByteString) <= member)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function putChild(branch: Branch, at: number, child: Node): void {
  const first = child instanceof Leaf;
  branch.children.splice(at, 0, child);
  branch.sizes.splice(at, 0, sizeOf(child));
  branch.leastScores.splice(at, 0, (first ? child.scores[0] : child.leastScores[0]) as number);
  branch.leastMembers.splice(at, 0, (first ? child.members[0] : child.leastMembers[0]) as ByteString);
}

function dropChild(branch: Branch, at: number): void {
  branch.children.splice(at, 1);
  branch.sizes.splice(at, 1);
  branch.leastScores.splice(at, 1);
  branch.leastMembers.splice(at, 1);
}

/** The new right sibling, if the node had to be split. */
function insertInto(node: Node, score: number, member: ByteString): Node | undefined {
  if (node instanceof Leaf) {
    const at = placeIn(node, score, member);
    insertEntry(node, at, score, member);
    return node.members.length > MAX_LEAF_ENTRIES ? splitLeaf(node, at) : undefined;
  }
  const at = childFor(node, score, member);
  const right = insertInto(node.children[at] as Node, score, member);
  node.sizes[at] = (node.sizes[at] as number) + 1;
  if (right === undefined) return undefined;
  node.sizes[at] = (node.sizes[at] as number) - sizeOf(right);
  putChild(node, at + 1, right);
  return node.children.length > MAX_CHILDREN ? splitBranch(node, at + 1) : undefined;
}

/**
 * This does what two `splice`s would, which allocate. Scores and members are moved by loops of their own: in a shared
 * one every score would be boxed.
 */
function insertEntry({ scores, members }: Leaf, at: number, score: number, member: ByteString): void {
  scores.push(score);
  for (let i = scores.length - 1; i > at; i -= 1) scores[i] = scores[i - 1] as number;
  scores[at] = score;
  members.push(member);
  for (let i = members.length - 1; i > at; i -= 1) members[i] = members[i - 1] as ByteString;
  members[at] = member;
}

function deleteEntry({ scores, members }: Leaf, at: number): void {
  const last = scores.length - 1;
  for (let i = at; i < last; i += 1) scores[i] = scores[i + 1] as number;
  scores.pop();
  for (let i = at; i < last; i += 1) members[i] = members[i + 1] as ByteString;
  members.pop();
}

/** Where to split: in the middle; at the end where entries come in ascending order, so that full nodes stay full. */
function splitPlace(length: number, at: number, isLast: boolean): number {
  return isLast && at === length - 1 ? length - 1 : length >>> 1;
}

function splitLeaf(leaf: Leaf, at: number): Leaf {
  const place = splitPlace(leaf.members.length, at, leaf.next === undefined);
  const right = new Leaf();
  for (let i = place; i < leaf.members.length; i += 1) {
    right.members.push(leaf.members[i] as ByteString);
    right.scores.push(leaf.scores[i] as number);
  }
  leaf.members.length = place;
  leaf.scores.length = place;
  right.previous = leaf;
  right.next = leaf.next;
  if (leaf.next !== undefined) leaf.next.previous = right;
  leaf.next = right;
  return right;
}

function splitBranch(branch: Branch, at: number): Branch {
  const place = splitPlace(branch.children.length, at, true);
  const right = new Branch();
  right.children.push(...branch.children.splice(place));
  right.sizes.push(...branch.sizes.splice(place));
  right.leastScores.push(...branch.leastScores.splice(place));
  right.leastMembers.push(...branch.leastMembers.splice(place));
  return right;
}

function deleteFrom(node: Node, score: number, member: ByteString): boolean {
  if (node instanceof Leaf) {
    const at = placeIn(node, score, member);
    if (node.members[at] !== member || node.scores[at] !== score) return false;
    deleteEntry(node, at);
    return true;
  }
  const at = childFor(node, score, member);
  const child = node.children[at] as Node;
  if (!deleteFrom(child, score, member)) return false;
  node.sizes[at] = (node.sizes[at] as number) - 1;
  const width = widthOf(child);
  if (width === 0) {
    if (child instanceof Leaf) unlink(child);
    dropChild(node, at);
  } else if (width < FEW) {
    if (at > 0 && width + widthOf(node.children[at - 1] as Node) <= ROOMY) joinNext(node, at - 1);
    else if (at + 1 < node.children.length && width + widthOf(node.children[at + 1] as Node) <= ROOMY)
      joinNext(node, at);
  }
  return true;
}

function widthOf(node: Node): number {
  return node instanceof Leaf ? node.members.length : node.children.length;
}

function unlink(leaf: Leaf): void {
  if (leaf.previous !== undefined) leaf.previous.next = leaf.next;
  if (leaf.next !== undefined) leaf.next.previous = leaf.previous;
}

/** Moves all of the child after `at` into the one at `at`. */
function joinNext(branch: Branch, at: number): void {
  const left = branch.children[at] as Node;
  const right = branch.children[at + 1] as Node;
  if (left instanceof Leaf && right instanceof Leaf) {
    left.members.push(...right.members);
    left.scores.push(...right.scores);
    unlink(right);
  } else if (left instanceof Branch && right instanceof Branch) {
    left.children.push(...right.children);
    left.sizes.push(...right.sizes);
    // The first key of the right one is a bound here now: its parent knows the true one (SCT2).
    left.leastScores.push(branch.leastScores[at + 1] as number, ...right.leastScores.slice(1));
    left.leastMembers.push(branch.leastMembers[at + 1] as ByteString, ...right.leastMembers.slice(1));
  }
  branch.sizes[at] = (branch.sizes[at] as number) + (branch.sizes[at + 1] as number);
  dropChild(branch, at + 1);
}
