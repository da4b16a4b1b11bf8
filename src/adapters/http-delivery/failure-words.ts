/**
 * The reasons of calls without a response, in short stable words: users read and compare them in events, so they
 * contain no addresses of ours, no text of a library and no part of the request.
 */

export const INVALID = 'response is not valid HTTP/1.1';
export const OTHER_LENGTH = 'response body does not match its declared length';

/** A failure with its final text. */
export class CallFailure extends Error {}

/** The server closed an established connection. */
export class ConnectionLost extends CallFailure {
  constructor() {
    super('connection closed before the response was complete');
  }
}

const WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ECONNREFUSED: 'connection refused',
    ECONNRESET: 'connection reset',
    EPIPE: 'connection reset',
    ETIMEDOUT: 'connecting timed out',
    EHOSTUNREACH: 'host unreachable',
    EHOSTDOWN: 'host unreachable',
    ENETUNREACH: 'network unreachable',
    ENETDOWN: 'network unreachable',
    EADDRNOTAVAIL: 'network unreachable',
    ENOTFOUND: 'no such host',
    ENODATA: 'no such host',
    EMFILE: 'no sockets left',
    ENFILE: 'no sockets left',
    ERR_TLS_CERT_ALTNAME_INVALID: 'certificate is for another host',
    CERT_HAS_EXPIRED: 'certificate has expired',
    CERT_NOT_YET_VALID: 'certificate is not valid yet',
    DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate is not trusted',
    SELF_SIGNED_CERT_IN_CHAIN: 'certificate is not trusted',
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate is not trusted',
    UNABLE_TO_GET_ISSUER_CERT: 'certificate is not trusted',
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate is not trusted',
    CERT_REVOKED: 'certificate is not trusted',
  }),
);

export function failureWords(error: unknown): string {
  if (error instanceof CallFailure) return error.message;
  const code = codeOf(error);
  const words = WORDS.get(code);
  if (words !== undefined) return words;
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_') || code === 'EPROTO') return 'TLS handshake failed';
  return code === '' ? 'connection failed' : `connection failed (${code})`;
}

const LOST = new Set(['ECONNRESET', 'EPIPE']);

/** The server closed or reset an established connection. */
export function isConnectionLost(error: unknown): boolean {
  return error instanceof ConnectionLost || LOST.has(codeOf(error));
}

/** `timed out after 30s`. */
export function timeoutWords(timeoutMs: number): string {
  return `timed out after ${timeoutMs / 1000}s`;
}

/** The code of an error; with several addresses, that of the first. */
function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { code, errors } = error as { code?: unknown; errors?: readonly unknown[] };
  if (typeof code === 'string') return code;
  return Array.isArray(errors) && errors.length > 0 ? codeOf(errors[0]) : '';
}
