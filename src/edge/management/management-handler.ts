/**
 * What comes first, straight on Node's server: faces that share the port, the credentials, the rate limit, the body.
 *
 * Order of judgement: other sites (403), credentials (401), rate (429), body's size (413), accepted answer (406), route (404, 405), rights
 * (403), query and body (400), and only then what is meant by them (404). Read-only keys learn what they are before
 * anything is looked up.
 */
import type { ServerResponse } from 'node:http';
import { STRANGERS } from '../../kernel/index.js';
import type { ManagementGrant } from '../../ports/index.js';
import { MANAGEMENT_REFUSALS, managementRefusalOf, queueBodyTooLarge, SHARED_REFUSALS } from '../error-map.js';
import { type HttpExchange, PRIVATE_HEADERS, writeRefusal } from '../http/answer.js';
import type { Application } from '../http/application.js';
import { basicCredentials } from '../http/credentials.js';
import {
  BODILESS_METHODS,
  discardBody,
  type FaceRequest,
  isLongBody,
  MAX_STRANGERS_BODY_BYTES,
  RequestBodyReader,
} from '../http/index.js';
import { bodyRefused, RefusedRequest } from '../http/refused.js';
import { signedIn } from '../http/signing-in.js';
import { isOfPage, refuseOtherSites, sessionOf } from '../sessions/page-requests.js';
import type { FieldSpelling } from '../wire-alias.js';
import { ManagementCall } from './management-call.js';
import type { ManagementFace } from './management-face.js';

/** A request with its body, on its way to its route. */
export interface Arrived extends HttpExchange {
  readonly call: ManagementCall;
  /** In neutral words. */
  readonly path: string;
  readonly query: string;
  readonly fields: FieldSpelling;
  readonly body: Buffer;
}

const NOTHING = Buffer.alloc(0);
const CHALLENGE = { 'WWW-Authenticate': 'Basic realm="management", charset="UTF-8"' };

export class ManagementHandler {
  readonly #bodies: RequestBodyReader;

  constructor(
    private readonly face: ManagementFace,
    /** That anybody may ask for. */
    private readonly openPaths: ReadonlySet<string>,
    private readonly application: Application<Arrived>,
  ) {
    this.#bodies = new RequestBodyReader(face.budget);
  }

  /** Synchronously up to the body, whose pieces follow in the same tick. */
  handle(request: FaceRequest, response: ServerResponse): void {
    const { search, others = [] } = this.face.parts.mount;
    if (search?.(request, response)) return;
    if (others.some((answers) => answers(request, response))) return;
    try {
      this.#receive(request, response);
    } catch (failure) {
      this.#refuse(request, response, failure, isLongBody(request));
    }
  }

  /** @param leavesBody not a byte more of it is read: it was refused before it was asked for */
  #refuse(request: FaceRequest, response: ServerResponse, failure: unknown, leavesBody = false): void {
    const how = { headers: PRIVATE_HEADERS, isLast: this.face.isDraining, leavesBody };
    writeRefusal({ request, response }, this.face.incidents.refused(failure, managementRefusalOf), how);
  }

  #receive(request: FaceRequest, response: ServerResponse): void {
    const target = request.url as string;
    const mark = target.indexOf('?');
    const { path, fields } = this.face.spellings.of(mark < 0 ? target : target.slice(0, mark), request.headers);
    const query = mark < 0 ? '' : target.slice(mark + 1);
    refuseOtherSites(request);
    const grant = this.openPaths.has(path) ? undefined : this.#grantFor(request);
    // Asked as of a proxy; nothing here is one.
    if (!path.startsWith('/')) throw new RefusedRequest(SHARED_REFUSALS.routeNotFound);
    // What anybody may ask for has no body.
    if (grant === undefined && isLongBody(request))
      throw new RefusedRequest(queueBodyTooLarge(MAX_STRANGERS_BODY_BYTES));
    const call = new ManagementCall(this.face, grant, this.face.addresses.of(request));
    const pass = (body: Buffer) => this.application({ request, response, call, path, query, fields, body });
    if (BODILESS_METHODS.has(request.method)) {
      discardBody(request);
      pass(NOTHING);
      return;
    }
    const { maxBodyBytes } = this.face.parts.limits;
    this.#bodies.read({ request, response }, grant?.account ?? STRANGERS, maxBodyBytes, (outcome) => {
      if (outcome.kind === 'whole') pass(outcome.body);
      else if (outcome.kind !== 'aborted') this.#refuse(request, response, bodyRefused(outcome, maxBodyBytes));
    });
  }

  /** @throws Refused 401, 403, 429; CONTROL_STALE */
  #grantFor(request: FaceRequest): ManagementGrant {
    const { authorization } = request.headers;
    const { parts, pages } = this.face;
    const isPage = authorization === undefined && isOfPage(request);
    const grant = isPage ? sessionOf(pages, request).grant : this.#grantForKey(request, authorization);
    const caller = `${grant.email} ${grant.account} ${grant.keyName}`;
    if (!this.face.bursts.take(caller, parts.limits.maxCallsPerSecond)) {
      throw new RefusedRequest(MANAGEMENT_REFUSALS.tooManyCalls);
    }
    return grant;
  }

  /** @throws Refused 401, 429; CONTROL_STALE */
  #grantForKey(request: FaceRequest, authorization: string | undefined): ManagementGrant {
    const credentials = basicCredentials(authorization);
    if (credentials === undefined) throw new RefusedRequest(MANAGEMENT_REFUSALS.unauthorized, CHALLENGE);
    const { signIns, addresses, parts } = this.face;
    const { email, key } = credentials;
    const signingIn = { signIns, address: () => addresses.of(request), secret: key, name: email };
    const grant = signedIn(signingIn, () => parts.access.grantForKey(email, key));
    if (grant === undefined) throw new RefusedRequest(MANAGEMENT_REFUSALS.unauthorized, CHALLENGE);
    return grant;
  }
}
