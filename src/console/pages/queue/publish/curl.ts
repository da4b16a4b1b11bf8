/** The curl command for the same call. */
import type { DraftCall } from './draft.js';

/** The variables of a shell for values that are not known or not shown. */
export const TOKEN_VARIABLE = '$MILLRACE_QUEUE_TOKEN';
export const URL_VARIABLE = '$MILLRACE_QUEUE_URL';

/** @param token the token or its variable. @param base the address of the queue or its variable */
export function curlLine(base: string, token: string, call: DraftCall): string {
  const { place, destination, headers, query, body } = call;
  const words = query.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
  const url = `${place}${destination}`;
  const target = words === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${words}`;
  const hasType = body === undefined || headers.some(([name]) => name === 'Content-Type');
  return [
    `curl -X POST ${base === URL_VARIABLE ? `"${base}"${quoted(target)}` : quoted(base + target)}`,
    `-H "Authorization: Bearer ${token}"`,
    ...(hasType ? [] : ["-H 'Content-Type:'"]),
    ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-raw ${quoted(body)}`]),
  ].join(' \\\n  ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
