/**
 * A compiled path: JSONPath (`$…`), or the legacy notation without `$`, which returns the bare first match. Compiled
 * paths are cached up to a limit.
 */
import type { ByteString } from '../../../../kernel/index.js';
import { MAX_CACHED_PATH_BYTES, MAX_CACHED_PATHS } from './json-limits.js';
import { type PathSegment, parsePath, staticSteps } from './json-path-parser.js';

export interface JsonPath {
  /** As the client wrote it. */
  readonly text: ByteString;
  /** With the `$`, as shown in errors. */
  readonly full: ByteString;
  readonly isLegacy: boolean;
  readonly segments: readonly PathSegment[];
}

const compiled = new Map<ByteString, JsonPath>();

/** @param isTrusted whether the path comes from the journal and may have any length @throws ErrorReply */
export function compilePath(text: ByteString, isTrusted = false): JsonPath {
  const known = compiled.get(text);
  if (known !== undefined) return known;
  const isLegacy = !/^\$(?:$|[.[])/.test(text);
  const full = !isLegacy ? text : text === '.' ? '$' : text.startsWith('.') ? `$${text}` : `$.${text}`;
  const path: JsonPath = { text, full, isLegacy, segments: parsePath(full, isTrusted) };
  // Compiled regular expressions are too large to cache.
  if (text.length <= MAX_CACHED_PATH_BYTES && !text.includes('=~')) {
    if (compiled.size >= MAX_CACHED_PATHS) compiled.delete(compiled.keys().next().value as ByteString);
    compiled.set(text, path);
  }
  return path;
}

export function isRoot(path: JsonPath): boolean {
  return path.segments.length === 0;
}

/** The last name or index of a path in which each step is a single name or index. */
export function lastOfStatic(path: JsonPath): ByteString | number | undefined {
  return staticSteps(path.segments)?.at(-1);
}
