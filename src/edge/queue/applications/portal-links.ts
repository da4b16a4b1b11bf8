/**
 * Portal links: a token for one application and a time. It is a text that the installation's key file seals, so every
 * process can open it. Only revoked links are kept, with their application.
 *
 *  PTL1 a token opens the routes in `PORTAL_ROUTES` of its application, and no other
 *  PTL2 after its end, or with any change to its text, a token opens no route
 *  PTL3 the address of the page has the token after `#`, which browsers do not send to servers
 *  PTL4 a revoked link opens no route of any process: its owner is asked at each call
 */
import type { Application } from '../../../domain/queue/index.js';
import type { AccountId } from '../../../kernel/index.js';
import type { QueueGrant, Sealing } from '../../../ports/index.js';

export const PORTAL_TOKEN = 'mpt_';
/** The ids of links begin with it. */
export const LINK_ID = 'plk_';
/** No valid token is longer. */
const MAX_TOKEN_CHARACTERS = 1024;
/** Other texts are sealed with the same key file. */
const PURPOSE = 'portal';

export interface PortalLink {
  readonly account: AccountId;
  readonly application: string;
  readonly untilMs: number;
  readonly isReadOnly: boolean;
  readonly id: string;
  /** Of the application, when the link was made. */
  readonly generation: number;
}

export function portalToken(sealing: Sealing, link: PortalLink): string {
  const { account, application, untilMs, isReadOnly, id, generation } = link;
  return (
    PORTAL_TOKEN + sealing.seal(JSON.stringify([PURPOSE, account, application, untilMs, isReadOnly, id, generation]))
  );
}

/** Undefined: forged, expired, or another token. PTL2 (a changed or expired token opens no route). */
export function portalLinkIn(sealing: () => Sealing, token: string, nowMs: number): PortalLink | undefined {
  if (!token.startsWith(PORTAL_TOKEN) || token.length > MAX_TOKEN_CHARACTERS) return undefined;
  let opened: unknown;
  try {
    opened = JSON.parse(sealing().open(token.slice(PORTAL_TOKEN.length)));
  } catch {
    return undefined;
  }
  if (!Array.isArray(opened)) return undefined;
  const [purpose, account, application, untilMs, isReadOnly, id, generation] = opened as readonly unknown[];
  if (purpose !== PURPOSE || typeof account !== 'string' || typeof application !== 'string') return undefined;
  if (typeof untilMs !== 'number' || untilMs <= nowMs) return undefined;
  if (typeof id !== 'string' || typeof generation !== 'number') return undefined;
  return { account: account as AccountId, application, untilMs, isReadOnly: isReadOnly === true, id, generation };
}

/** PTL4 (a revoked link opens no route). */
export function isRevoked(
  { id, generation }: Pick<PortalLink, 'id' | 'generation'>,
  { portalLinks }: Application,
): boolean {
  if (portalLinks === undefined) return false;
  return generation < portalLinks.generation || portalLinks.revoked.some((one) => one.id === id);
}

/** The grant of a link's holder; undefined without the account. */
export function portalGrant(link: PortalLink, grant: QueueGrant | undefined): QueueGrant | undefined {
  return grant && { ...grant, role: link.isReadOnly ? 'read-only' : 'standard', portal: link };
}
