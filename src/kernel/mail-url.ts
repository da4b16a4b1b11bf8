/** Addresses of mails as URLs, which name the destination of a message. Only our own messages have one: a caller's is refused. */
const SCHEME = 'mailto:';

export function mailUrlOf(address: string): string {
  return SCHEME + encodeURIComponent(address).replace('%40', '@');
}

/** @returns undefined for any other URL */
export function mailAddressIn(url: string): string | undefined {
  return url.startsWith(SCHEME) ? decodeURIComponent(url.slice(SCHEME.length)) : undefined;
}
