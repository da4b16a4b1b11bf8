/**
 * Members in the order of their scores: a counted B+-tree. Insert, delete, rank and the entry at a rank take O(log n),
 * and no operation moves more than a node.
 *
 * Invariants
 *
 *  SCT1 entries are ordered by (score, bytes of the member), and no two are equal in both
 *  SCT2 a branch knows for each child its size, and a key that is at most the child's first entry and greater than all
 *       entries of its left sibling
 *  SCT3 all leaves have the same depth and are linked in order; only a root leaf may be empty
 *  SCT4 scores are never NaN
 */
import type { ByteString } from '../../../kernel/index.js';

/** The most entries of a leaf: moving half of them costs about as much as finding the position. */
export const MAX_LEAF_ENTRIES = 64;
/** The most children of a branch; four levels hold ten million entries. */
const MAX_CHILDREN = 64;
/** A node with fewer entries is merged with a neighbour if the result has room to grow. */
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
  /** The first child has no lower bound; its key only keeps the indexes aligned. */
  readonly leastScores: number[] = [];
  readonly leastMembers: ByteString[] = [];
}

type Node = Leaf | Branch;

/** Whether the entry precedes the searched position: true for the first part of the order, false for the rest. */
export type IsBefore = (score: number, member: ByteString) => boolean;

export class ScoreTree {
  #root: Node = new Leaf();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The score of a member in a tree that is a single leaf, by linear search; undefined in a larger tree. */
  scoreInLoneLeaf(member: ByteString): number | undefined {
    const root = this.#root;
    if (!(root instanceof Leaf)) return undefined;
    const at = root.members.indexOf(member);
    return at < 0 ? undefined : root.scores[at];
  }

  /** Adds an entry that does not exist yet (SCT1: no two entries are equal). */
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

  /** @returns false if the entry does not exist */
  delete(score: number, member: ByteString): boolean {
    if (!deleteFrom(this.#root, score, member)) return false;
    this.#size -= 1;
    while (this.#root instanceof Branch && this.#root.children.length <= 1) {
      this.#root = this.#root.children[0] ?? new Leaf();
    }
    return true;
  }

  /** The number of entries before this one, whether or not it exists. */
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

  /** Visits the entries from rank `from` up to but excluding `to`. The tree must not change during the visit. */
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

  /** As `walk`, in descending order. */
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

/** The number of entries of the leaf before this one. */
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

/** The child that the entry belongs to: the last with a key not above it, or the first. */
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

/** @returns the new right sibling, if the node was split */
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
 * Like two `splice` calls, which would allocate. Scores and members are moved in separate loops: in a shared one V8
 * would box every score.
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

/** The split position: the middle; or the end if entries arrive in ascending order, so that full nodes stay full. */
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

/** Moves the contents of the child after `at` into the child at `at`. */
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
    // The first key of the right node becomes a lower bound here, so it is taken from the parent, which has the true
    // one (SCT2: a branch knows a lower bound of each child).
    left.leastScores.push(branch.leastScores[at + 1] as number, ...right.leastScores.slice(1));
    left.leastMembers.push(branch.leastMembers[at + 1] as ByteString, ...right.leastMembers.slice(1));
  }
  branch.sizes[at] = (branch.sizes[at] as number) + (branch.sizes[at + 1] as number);
  dropChild(branch, at + 1);
}
