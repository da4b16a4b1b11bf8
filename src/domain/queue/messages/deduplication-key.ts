/**
 * The key by which an acceptance is remembered, so that equal messages are not accepted again within the window. Ids
 * are per account; a key made of the content never equals one made of a caller's id. In a group each endpoint has its
 * own key, because its messages are accepted or refused one by one.
 */
import { createHash } from 'node:crypto';
import type { HeaderList } from '../model/records.js';
import { isOfTrace } from '../model/settings/header-names.js';

export interface DeduplicatedContent {
  /** The URL, or the group's name. */
  readonly destination: string;
  /** Set for a message of a group. */
  readonly endpointUrl: string | undefined;
  readonly body: Uint8Array;
  /** Content-Type and the forwarded headers; their order does not matter. */
  readonly header: HeaderList;
}

/** @returns 43 characters of base64url */
export function deduplicationKeyOf(of: { readonly id: string } | 'content', content: DeduplicatedContent): string {
  const hash = createHash('sha256');
  // Each part has its length in front, so that no two lists of parts are hashed alike.
  const add = (part: string) => hash.update(`${Buffer.byteLength(part)}:${part}`);
  if (of === 'content') {
    add('content');
    add(content.destination);
    // Trace headers differ when the same message is sent again, so they are left out.
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
