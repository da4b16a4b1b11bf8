/** Where clients find the data planes, as records show it: a host with its port and path, never with a scheme. */
import type { DatabaseId } from '../../kernel/index.js';
import { uuidOf } from '../../messages/index.js';

/** Base URLs, or the same without a scheme. `search` is the one before `/search/<id>`. */
export interface PublicUrls {
  readonly kv: string;
  readonly queue: string;
  readonly search: string;
}

/** Looks the URLs up each time: the port of this face may be known only once it listens. */
export class PublicAddresses {
  constructor(private readonly urls: PublicUrls) {}

  /** All databases have one address: the token says which is meant. */
  ofDatabases(): string {
    return withoutScheme(this.urls.kv);
  }

  ofSearchIndex(index: DatabaseId): string {
    return `${withoutScheme(this.urls.search)}/search/${uuidOf(index)}`;
  }
}

function withoutScheme(url: string): string {
  return url.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '').replace(/\/+$/, '');
}
