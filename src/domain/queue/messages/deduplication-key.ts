/**
 * Under which key an acceptance is remembered, so that the same is not accepted again within the window. Ids are
 * account-wide; one made of the content can never equal one that a caller chose. For a group each endpoint has its
 * own key: its messages are accepted or refused one by one.
 */
import { createHash } from 'node:crypto';
import { MAX_DEDUPLICATION_ID_BYTES } from '../limits.js';
import type { HeaderList } from '../records.js';
import { isOfTrace } from '../settings/header-names.js';

export interface DeduplicatedContent {
  /** The URL, or the group's name. */
  readonly destination: string;
  /** It is there for a group's message. */
  readonly endpointUrl: string | undefined;
  readonly body: Uint8Array;
  /** Content-Type and what is forwarded; its order does not matter. */
  readonly header: HeaderList;
}

/** What is wrong with an id that a caller chose; undefined: nothing. */
export function deduplicationIdProblem(id: string): string | undefined {
  if (id.includes(':')) return "DeduplicationId cannot contain ':'";
  if (Buffer.byteLength(id) > MAX_DEDUPLICATION_ID_BYTES) {
    return `DeduplicationId cannot be longer than ${MAX_DEDUPLICATION_ID_BYTES} bytes`;
  }
  return undefined;
}

/** @returns 43 characters of base64url */
export function deduplicationKeyOf(of: { readonly id: string } | 'content', content: DeduplicatedContent): string {
  const hash = createHash('sha256');
  // The length in front of each part keeps the parts apart.
  const add = (part: string) => hash.update(`${Buffer.byteLength(part)}:${part}`);
  if (of === 'content') {
    add('content');
    add(content.destination);
    // The same message again is of another trace.
    const header = content.header.filter((pair) => !isOfTrace(pair));
    for (const line of header.map(([name, value]) => `${name}:${value}`).sort()) add(line);
    hash.update(`body ${content.body.byteLength}:`).update(content.body);
  } else {
    add('id');
    add(of.id);
  }
  if (content.endpointUrl !== undefined) add(`endpoint ${content.endpointUrl}`);
  return hash.digest('base64url');
}
