/** The curl command for the same call. */
import type { DraftCall } from './draft.js';

/** @param token the token or a placeholder */
export function curlLine(base: string, token: string, call: DraftCall): string {
  const { place, destination, headers, query, body } = call;
  const words = query.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
  const url = `${base}${place}${destination}`;
  const target = words === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${words}`;
  const hasType = body === undefined || headers.some(([name]) => name === 'Content-Type');
  return [
    `curl -X POST ${quoted(target)}`,
    `-H "Authorization: Bearer ${token}"`,
    ...(hasType ? [] : ["-H 'Content-Type:'"]),
    ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-raw ${quoted(body)}`]),
  ].join(' \\\n  ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
