/** Links to the portal of an application: one is made, one or all are revoked; and the portal that a link opens. */
import { newId } from '../../../protocol/index.js';
import { invalid } from '../../http/refused.js';
import { DONE_ANSWER, shows } from '../answer-schemas.js';
import { applicationIn } from '../applications/application-in.js';
import { LINK_ID, PORTAL_TOKEN, portalLinkIn, portalToken } from '../applications/portal-links.js';
import { type QueueCall, type QueueRoute, queueRoute } from '../queue-call.js';
import { DEFAULT_PORTAL_SECONDS, MAX_PORTAL_SECONDS } from '../queue-limits.js';
import { APPLICATION_BODIES } from '../records/application-record.js';
import { bodyOf, PortalRequest, RevokedLinkRequest, secondsOf } from '../requests/application-request.js';
import { ownAddress } from '../workflow-hooks.js';

const LINK = /^plk_[a-z2-7]{10,40}$/;

export const APPLICATION_PORTAL_ROUTES: readonly QueueRoute[] = [
  queueRoute('GET /v2/apps/:id/portal', {
    summary: 'Shows the portal of an application: its name, its look, and the end of the link that asks.',
    permission: 'read',
    answer: shows('Portal'),
    async handle(call, { path }) {
      const { id, name } = (await applicationIn(call, path)).application;
      const { portal, role } = call.grant;
      const look = await call.endpoint.portal.look();
      const readOnly = role === 'read-only';
      call.value(200, { application: { id, name }, readOnly, look, expiresAt: portal?.untilMs });
    },
  }),

  queueRoute('POST /v2/apps/:id/portal', {
    summary: 'Makes a link to the portal of an application, which ends by itself or is revoked.',
    permission: 'change',
    bodyShape: { of: APPLICATION_BODIES.portal, isNeeded: false },
    example: { expiresIn: '1h' },
    answer: shows('PortalLink'),
    async handle(call, { path }) {
      const { expiresIn, readOnly = false } = bodyOf(PortalRequest, call.body);
      const seconds = secondsOf('expiresIn', expiresIn, MAX_PORTAL_SECONDS) ?? DEFAULT_PORTAL_SECONDS;
      const { id, portalLinks } = (await applicationIn(call, path)).application;
      const { clock, sealing, random } = call.endpoint.parts;
      const untilMs = Math.trunc(clock.nowMs()) + seconds * 1000;
      const linkId = newId(LINK_ID, random);
      const { generation = 0 } = portalLinks ?? {};
      const link = {
        account: call.grant.account,
        application: id,
        untilMs,
        isReadOnly: readOnly,
        id: linkId,
        generation,
      };
      const token = portalToken(sealing(), link);
      const url = `${ownAddress(call.endpoint, call.request)}/portal/${id}#${token}`;
      call.value(200, { id: linkId, url, token, expiresAt: untilMs });
    },
  }),

  queueRoute('POST /v2/apps/:id/portal/revoke', {
    summary: 'Revokes a link to the portal of an application, or all of its links.',
    description: 'Every process refuses the link from the next call on. The most single links per application is 100.',
    permission: 'change',
    bodyShape: { of: APPLICATION_BODIES.revokedLink, isNeeded: false },
    example: {},
    answer: DONE_ANSWER,
    async handle(call, { path }) {
      const { link: given } = bodyOf(RevokedLinkRequest, call.body);
      const { id, portalLinks } = (await applicationIn(call, path)).application;
      const generation = given === undefined ? (portalLinks?.generation ?? 0) + 1 : undefined;
      const link = given === undefined ? undefined : linkIn(call, id, given);
      await call.ask({ type: 'RevokePortalLinks', application: id, generation, link }, 'Application');
      call.done();
    },
  }),
];

/** @param given the id of a link, or its token. @throws Refused 400 */
function linkIn(call: QueueCall, application: string, given: string): { id: string; untilMs: number } {
  const { clock, sealing } = call.endpoint.parts;
  const nowMs = Math.trunc(clock.nowMs());
  if (LINK.test(given)) return { id: given, untilMs: nowMs + MAX_PORTAL_SECONDS * 1000 };
  const token = given.slice(Math.max(0, given.indexOf(PORTAL_TOKEN)));
  const link = portalLinkIn(sealing, token, nowMs);
  if (link?.application !== application || link.account !== call.grant.account) {
    throw invalid('link: is no valid link to the portal of this application');
  }
  return { id: link.id, untilMs: link.untilMs };
}
