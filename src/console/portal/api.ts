/**
 * Calls of the portal. The link has the application in its path and the token after `#`, so that the token is in no
 * log of a server. It is removed from the address and kept for the tab. In a frame without storage it stays in the address,
 * so that the frame can be reloaded.
 */
import type { Operations, Schemas } from '#api';
import { answered, CallError, type CallOptions, placed } from '../api/call.js';

export type Endpoint = Schemas['ApplicationEndpoint'];
export type Secret = Schemas['EndpointSecret'];
export type EventType = Schemas['EventType'];
export type Message = Schemas['SentMessage'];
export type Portal = Operations['GET /v2/apps/{id}/portal'];

const ROOT = '/portal/';
const TOKEN = 'millrace-portal';

const at = location.pathname.indexOf(ROOT);
/** A proxy may serve the endpoint below a path. */
const base = location.pathname.slice(0, Math.max(0, at));
export const application = decodeURIComponent(location.pathname.slice(at + ROOT.length).replace(/\/.*$/, ''));

const token = keptToken(location.hash.slice(1));

function keptToken(inAddress: string): string {
  try {
    if (inAddress === '') return sessionStorage.getItem(TOKEN) ?? '';
    sessionStorage.setItem(TOKEN, inAddress);
    history.replaceState(null, '', location.pathname);
  } catch {
    // Browsers that block cookies of other sites deny a frame its storage.
  }
  return inAddress;
}

/** Calls an operation of the application. @throws CallError */
export async function ask<O extends keyof Operations & `${string} /v2/apps/{id}/${string}`>(
  operation: O,
  options: CallOptions = {},
): Promise<Operations[O]> {
  const [method, path] = placed(operation, { ...options, path: { id: application, ...options.path } });
  const headers = { Authorization: `Bearer ${token}` };
  return (await answered(method, base + path, { ...options, headers })) as Operations[O];
}

/** The link has ended, or is not complete. */
export function isOver(error: unknown): boolean {
  return error instanceof CallError && (error.status === 401 || error.status === 403);
}
