/**
 * Parser for the head of the simplest requests, which are most requests of most clients. It reads them as Node's
 * strict parser does; a request that Node might read differently or refuse is not plain.
 *
 *  PLH1 a plain head is `GET` without a body, `POST` with one length, or `DELETE`; HTTP/1.1, one host, no repeated
 *       header, names of letters, digits and dashes, values of printable ASCII, and no header that changes the
 *       framing
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { HttpLimits } from './http-limits.js';

export interface PlainHead {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Alternating names and values as they arrived. The same list as long as the client sends the same headers. */
  readonly rawHeaders: readonly string[];
  readonly bodyBytes: number;
}

const END_OF_LINE = '\r\n';
const VERSION = ' HTTP/1.1';
const URL_TEXT = /^\/[!"$-~]*$/;
const NAME = /^[A-Za-z0-9-]+$/;
const VALUE = /^[ -~]*$/;
const LENGTH = /^\d{1,9}$/;
/** These say where a message ends, or ask for another protocol or an interim answer. */
const FRAMING = ['transfer-encoding', 'expect', 'upgrade', 'trailer', 'te', 'http2-settings'];

/** The parser of one connection; its requests mostly repeat the same headers, which are kept. */
export class PlainHeads {
  #text = '';
  #headers: Readonly<Record<string, string>> = {};
  #raw: readonly string[] = [];

  constructor(private readonly limits: Pick<HttpLimits, 'maxHeaderBytes' | 'maxHeadersCount'>) {}

  /** @param head without the empty line at its end. @returns undefined if it is not plain */
  read(head: string): PlainHead | undefined {
    const lineEnd = head.indexOf(END_OF_LINE);
    if (lineEnd < 0 || head.length > this.limits.maxHeaderBytes) return undefined;
    const method = methodOf(head);
    const urlEnd = lineEnd - VERSION.length;
    if (method === undefined || !head.startsWith(VERSION, urlEnd)) return undefined;
    const url = head.slice(method.length + 1, urlEnd);
    if (!URL_TEXT.test(url)) return undefined;
    const text = head.slice(lineEnd + END_OF_LINE.length);
    if (text !== this.#text) {
      const raw: string[] = [];
      const headers = this.#parsed(text, raw);
      if (headers === undefined) return undefined;
      this.#text = text;
      this.#headers = headers;
      this.#raw = raw;
    }
    const length = this.#headers['content-length'];
    if (method !== 'DELETE' && (length === undefined) !== (method === 'GET')) return undefined;
    const bodyBytes = length === undefined ? 0 : Number(length);
    return { method, url, headers: this.#headers, rawHeaders: this.#raw, bodyBytes };
  }

  #parsed(text: string, raw: string[]): Readonly<Record<string, string>> | undefined {
    const lines = text.split(END_OF_LINE);
    if (lines.length > this.limits.maxHeadersCount) return undefined;
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const colon = line.indexOf(':');
      const written = line.slice(0, colon);
      const name = written.toLowerCase();
      const value = line.slice(colon + 1);
      if (colon < 1 || !NAME.test(name) || !VALUE.test(value) || name in headers) return undefined;
      headers[name] = value.trim();
      raw.push(written, headers[name]);
    }
    const { host, connection = 'keep-alive', 'content-length': length = '0' } = headers;
    const isFramed = FRAMING.some((name) => name in headers);
    if (host === undefined || isFramed || connection.toLowerCase() !== 'keep-alive' || !LENGTH.test(length)) {
      return undefined;
    }
    return headers;
  }
}

function methodOf(head: string): PlainHead['method'] | undefined {
  if (head.startsWith('GET ')) return 'GET';
  if (head.startsWith('POST ')) return 'POST';
  return head.startsWith('DELETE ') ? 'DELETE' : undefined;
}
