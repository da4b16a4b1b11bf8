/** Finds in the first bytes of a connection the credential by which its database or account is found. */

/** An endpoint whose connections mostly stay with one database or account. */
export type ReadEndpoint = 'kv' | 'queue' | 'resp';

/** More is not read: no credential is as long. */
const MAX_HEAD_BYTES = 16 * 1024;
const END_OF_LINE = '\r\n';
const AUTHORIZATION = /\r\nauthorization:[ \t]*([^\r\n]+)/i;
const SIGN_IN = /^\*(\d{1,2})\r\n\$\d\r\n(?:auth|hello)\r\n/i;

/** @returns the `Authorization` header, or the command that signs in; undefined: the bytes have none */
export function credentialIn(endpoint: ReadEndpoint, bytes: Buffer): string | undefined {
  const text = bytes.toString('latin1', 0, MAX_HEAD_BYTES);
  if (endpoint === 'resp') return signInIn(text);
  const headEnd = text.indexOf(`${END_OF_LINE}${END_OF_LINE}`);
  return headEnd < 0 ? undefined : AUTHORIZATION.exec(text.slice(0, headEnd))?.[1];
}

function signInIn(text: string): string | undefined {
  const words = Number(SIGN_IN.exec(text)?.[1] ?? 0);
  let at = text.indexOf(END_OF_LINE) + END_OF_LINE.length;
  for (let word = 0; word < words; word += 1) {
    const lineEnd = text.indexOf(END_OF_LINE, at);
    const length = Number(text.slice(at + 1, lineEnd));
    if (lineEnd < 0 || !(length >= 0)) return undefined;
    at = lineEnd + length + 2 * END_OF_LINE.length;
  }
  return words === 0 || at > text.length ? undefined : text.slice(0, at);
}
