/**
 * Commands about applications, their endpoints and event types. URLs, filters and schemas were judged by the process
 * that received the request.
 *
 *  APP1 a change names only the members that change; the owner merges it with the present record
 *  APP2 a uid belongs to one application of the account, and is the id of none
 *  APP3 a replaced secret signs until its end; a rotation forgets those that have ended, and at least one remains
 *  APP4 a link to the portal is revoked by its id, which is kept until its end, or with all of its generation
 */
import { calledUrl } from '../../../kernel/index.js';
import { TopN } from '../collections/top-n.js';
import { Growth, heldRefusal } from '../messages/held-refusal.js';
import type { QueueTurn } from '../messages/turn.js';
import type { Application, ApplicationEndpoint, EndpointSecret, EventType } from '../model/application-records.js';
import type { QueueCommandOf, QueueReply } from '../model/commands.js';
import { rejection } from '../model/decision.js';
import { applicationBytes, applicationEndpointBytes, applicationMemoryBytes, eventTypeBytes } from '../model/held.js';
import {
  MAX_APPLICATION_ENDPOINTS,
  MAX_APPLICATIONS,
  MAX_ENDPOINT_SECRETS,
  MAX_EVENT_TYPES,
  MAX_REVOKED_LINKS,
  MAX_SECRET_KEEP_MS,
} from '../model/limits.js';
import { breakerUrlOf } from '../model/state/breakers.js';

const DONE: QueueReply = { type: 'Done' };
/** Applications that one step looks at: about a millisecond. */
const LOOKED_AT_ONCE = 1000;

export function setApplication(command: QueueCommandOf<'SetApplication'>, turn: QueueTurn): QueueReply {
  const { state, context, evolve } = turn;
  const { applications } = state;
  const { id, isNew } = command;
  const before = applications.get(id);
  if (before?.id !== id && !isNew) return unknownApplication(id);
  if (before?.id === id && isNew) return shown(before);
  if (isNew && applications.applicationCount >= MAX_APPLICATIONS) {
    return rejection('TOO_MANY', `an account has at most ${MAX_APPLICATIONS} applications`);
  }
  const atMs = Math.trunc(context.nowMs);
  const uid = command.uid ?? before?.uid;
  const rate = command.rate ?? before?.rate;
  const notifyUrl = command.notifyUrl ?? before?.notifyUrl;
  const email = command.email ?? before?.email;
  const after: Application = {
    id,
    uid: uid === '' ? undefined : uid,
    name: command.name ?? before?.name ?? '',
    metadata: command.metadata ?? before?.metadata ?? [],
    rate: rate?.rate === 0 ? undefined : rate,
    createdAtMs: before?.createdAtMs ?? atMs,
    updatedAtMs: atMs,
    ...(notifyUrl !== undefined && notifyUrl !== '' && { notifyUrl }),
    ...(before?.portalLinks && { portalLinks: before.portalLinks }),
    ...(email !== undefined && email !== '' && { email }),
  };
  const named = after.uid === undefined ? undefined : applications.get(after.uid);
  if (named !== undefined && named.id !== id) return rejection('INVALID', `uid ${after.uid} is another application's`);
  const growth = applicationBytes(after) - (before === undefined ? 0 : applicationBytes(before));
  const refusal = growthRefusal(growth, isNew, turn);
  if (refusal !== undefined) return refusal;
  evolve({ type: 'ApplicationSet', application: after, atMs });
  return shown(after);
}

/** APP4 (a revoked link stays revoked until its own end). */
export function revokePortalLinks(
  { application: named, generation, link }: QueueCommandOf<'RevokePortalLinks'>,
  turn: QueueTurn,
): QueueReply {
  const before = turn.state.applications.get(named);
  if (before === undefined) return unknownApplication(named);
  const atMs = Math.trunc(turn.context.nowMs);
  const { generation: present, revoked } = before.portalLinks ?? { generation: 0, revoked: [] };
  const isNewer = generation !== undefined && generation > present;
  const kept = isNewer ? [] : revoked.filter(({ untilMs }) => untilMs > atMs);
  const isAdded = link !== undefined && !kept.some(({ id }) => id === link.id);
  if (!isNewer && !isAdded) return shown(before);
  if (isAdded && kept.length >= MAX_REVOKED_LINKS) {
    return rejection('TOO_MANY', `at most ${MAX_REVOKED_LINKS} links are revoked one by one: revoke all of them`);
  }
  const links = { generation: isNewer ? generation : present, revoked: isAdded ? [...kept, link] : kept };
  const application = { ...before, portalLinks: links };
  turn.evolve({ type: 'ApplicationSet', application, atMs });
  return shown(application);
}

export function deleteApplication({ id }: QueueCommandOf<'DeleteApplication'>, turn: QueueTurn): QueueReply {
  const found = turn.state.applications.get(id);
  if (found === undefined) return unknownApplication(id);
  turn.evolve({ type: 'ApplicationDeleted', id: found.id, atMs: Math.trunc(turn.context.nowMs) });
  return DONE;
}

export function getApplication({ id, eventType }: QueueCommandOf<'GetApplication'>, turn: QueueTurn): QueueReply {
  const { applications } = turn.state;
  const found = applications.get(id);
  if (found === undefined) return unknownApplication(id);
  const type = eventType === undefined ? undefined : applications.eventType(eventType);
  const endpoints = applications.endpointsOf(found.id);
  return { type: 'Application', application: found, endpoints, eventType: type, ...breakersOf(endpoints, turn) };
}

/** One page in the order of ids; 10,000 applications are looked at in steps. */
export function* listApplications(
  { search = '', after = '', count }: QueueCommandOf<'ListApplications'>,
  { state: { applications } }: QueueTurn,
): Generator<void, QueueReply> {
  const part = search.toLowerCase();
  const page = new TopN<Application>(count, (a, b) => (a.id < b.id ? -1 : Number(a.id > b.id)));
  let [looked, total] = [0, 0];
  for (const application of applications.all()) {
    looked += 1;
    if (looked % LOOKED_AT_ONCE === 0) yield;
    const { id, uid = '', name } = application;
    if (part !== '' && ![id, uid, name].some((text) => text.toLowerCase().includes(part))) continue;
    total += 1;
    if (id > after) page.offer(application);
  }
  const { items, hasMore } = page;
  const endpointCounts = items.map(({ id }) => applications.endpointCountOf(id));
  return {
    type: 'Applications',
    applications: items,
    endpointCounts,
    after: hasMore ? items.at(-1)?.id : undefined,
    total,
  };
}

export function setApplicationEndpoint(command: QueueCommandOf<'SetApplicationEndpoint'>, turn: QueueTurn): QueueReply {
  const { state, context, evolve } = turn;
  const { applications } = state;
  const { application: named, id, isNew } = command;
  const owner = applications.get(named);
  if (owner === undefined) return unknownApplication(named);
  const before = applications.endpoint(owner.id, id);
  if (before === undefined && !isNew) return unknownEndpoint(id);
  if (before !== undefined && isNew) return shownEndpoint(owner, before, turn);
  if (isNew && applications.endpointCountOf(owner.id) >= MAX_APPLICATION_ENDPOINTS) {
    return rejection('TOO_MANY', `an application has at most ${MAX_APPLICATION_ENDPOINTS} endpoints`);
  }
  const atMs = Math.trunc(context.nowMs);
  const after: ApplicationEndpoint = {
    id,
    application: owner.id,
    url: command.url ?? before?.url ?? '',
    description: command.description ?? before?.description ?? '',
    eventTypes: command.eventTypes ?? before?.eventTypes ?? [],
    filter: command.filter ?? before?.filter ?? '',
    header: command.header ?? before?.header ?? [],
    secrets: before?.secrets ?? command.secrets.map((made) => ({ ...made, createdAtMs: atMs, expiresAtMs: undefined })),
    isDisabled: command.isDisabled ?? before?.isDisabled ?? false,
    createdAtMs: before?.createdAtMs ?? atMs,
    updatedAtMs: atMs,
  };
  if (after.url === '') return rejection('INVALID', 'url is required');
  if (after.secrets.length === 0) return rejection('INVALID', 'an endpoint needs a secret');
  const growth = applicationEndpointBytes(after) - (before === undefined ? 0 : applicationEndpointBytes(before));
  const refusal = growthRefusal(growth, isNew, turn);
  if (refusal !== undefined) return refusal;
  evolve({ type: 'ApplicationEndpointSet', endpoint: after, atMs });
  return shownEndpoint(owner, after, turn);
}

export function deleteApplicationEndpoint(
  { application: named, id }: QueueCommandOf<'DeleteApplicationEndpoint'>,
  { state: { applications }, context, evolve }: QueueTurn,
): QueueReply {
  const application = applications.get(named)?.id ?? named;
  if (applications.endpoint(application, id) === undefined) return unknownEndpoint(id);
  evolve({ type: 'ApplicationEndpointDeleted', application, id, atMs: Math.trunc(context.nowMs) });
  return DONE;
}

/** APP3 (a replaced secret signs until its end). */
export function rotateEndpointSecret(command: QueueCommandOf<'RotateEndpointSecret'>, turn: QueueTurn): QueueReply {
  const { state, context, evolve } = turn;
  const owner = state.applications.get(command.application);
  if (owner === undefined) return unknownApplication(command.application);
  const before = state.applications.endpoint(owner.id, command.endpoint);
  if (before === undefined) return unknownEndpoint(command.endpoint);
  const { secret, keepsMs } = command;
  // A repeated command finds its own secret.
  if (before.secrets.some(({ sealed }) => sealed === secret.sealed)) return shown(owner, before);
  if (keepsMs > MAX_SECRET_KEEP_MS) {
    return rejection('INVALID', `a replaced secret signs for at most ${MAX_SECRET_KEEP_MS / 1000} seconds`);
  }
  const atMs = Math.trunc(context.nowMs);
  const endsAtMs = atMs + keepsMs;
  const earlier = before.secrets
    .map((one) => (one.version === secret.version ? endedAt(one, endsAtMs) : one))
    .filter((one) => isSigning(one, atMs));
  if (earlier.length >= MAX_ENDPOINT_SECRETS) {
    return rejection('TOO_MANY', `an endpoint has at most ${MAX_ENDPOINT_SECRETS} secrets that sign at the same time`);
  }
  const secrets = [{ ...secret, createdAtMs: atMs, expiresAtMs: undefined }, ...earlier];
  const endpoint = { ...before, secrets, updatedAtMs: atMs };
  const refusal = growthRefusal(applicationEndpointBytes(endpoint) - applicationEndpointBytes(before), false, turn);
  if (refusal !== undefined) return refusal;
  evolve({ type: 'ApplicationEndpointSet', endpoint, atMs });
  return shown(owner, endpoint);
}

export function setEventType(command: QueueCommandOf<'SetEventType'>, turn: QueueTurn): QueueReply {
  const { state, context, evolve } = turn;
  const { applications } = state;
  const { name, isNew } = command;
  const before = applications.eventType(name);
  if (before === undefined && !isNew) return unknownEventType(name);
  if (before === undefined && applications.eventTypeCount >= MAX_EVENT_TYPES) {
    return rejection('TOO_MANY', `an account has at most ${MAX_EVENT_TYPES} event types`);
  }
  const atMs = Math.trunc(context.nowMs);
  const after: EventType = {
    name,
    description: command.description ?? before?.description ?? '',
    schema: command.schema ?? before?.schema ?? '',
    examples: command.examples ?? before?.examples ?? '[]',
    isArchived: command.isArchived ?? before?.isArchived ?? false,
    createdAtMs: before?.createdAtMs ?? atMs,
    updatedAtMs: atMs,
  };
  const growth = eventTypeBytes(after) - (before === undefined ? 0 : eventTypeBytes(before));
  const refusal = growthRefusal(growth, before === undefined, turn);
  if (refusal !== undefined) return refusal;
  evolve({ type: 'EventTypeSet', eventType: after, atMs });
  return { type: 'EventTypes', eventTypes: [after], after: undefined };
}

export function deleteEventType(
  { name }: QueueCommandOf<'DeleteEventType'>,
  { state: { applications }, context, evolve }: QueueTurn,
): QueueReply {
  if (applications.eventType(name) === undefined) return unknownEventType(name);
  evolve({ type: 'EventTypeDeleted', name, atMs: Math.trunc(context.nowMs) });
  return DONE;
}

export function listEventTypes(
  { after = '', count }: QueueCommandOf<'ListEventTypes'>,
  { state: { applications } }: QueueTurn,
): QueueReply {
  const page = pageOf([...applications.eventTypes()], ({ name }) => name, after, count);
  return { type: 'EventTypes', eventTypes: page.items, after: page.after };
}

/** Whether a secret signs at an instant. */
export function isSigning({ expiresAtMs }: Pick<EndpointSecret, 'expiresAtMs'>, atMs: number): boolean {
  return expiresAtMs === undefined || expiresAtMs > atMs;
}

function endedAt(secret: EndpointSecret, endsAtMs: number): EndpointSecret {
  return { ...secret, expiresAtMs: Math.min(secret.expiresAtMs ?? endsAtMs, endsAtMs) };
}

/** One page in the order of names. */
function pageOf<Item>(items: readonly Item[], nameOf: (item: Item) => string, after: string, count: number) {
  const left = items.filter((item) => nameOf(item) > after).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const page = left.slice(0, count);
  const last = page.at(-1);
  return { items: page, after: left.length > count && last !== undefined ? nameOf(last) : undefined };
}

function growthRefusal(bytes: number, isNew: boolean, { state, context }: QueueTurn): QueueReply | undefined {
  const growth = new Growth();
  growth.bytes = bytes;
  growth.memoryBytes = applicationMemoryBytes(isNew ? 1 : 0, bytes);
  return heldRefusal(growth, state, context);
}

function shown(application: Application, ...endpoints: readonly ApplicationEndpoint[]): QueueReply {
  return { type: 'Application', application, endpoints, eventType: undefined };
}

function shownEndpoint(application: Application, endpoint: ApplicationEndpoint, turn: QueueTurn): QueueReply {
  const endpoints = [endpoint];
  return { type: 'Application', application, endpoints, eventType: undefined, ...breakersOf(endpoints, turn) };
}

/** No member without failing destinations, as usual. */
function breakersOf(endpoints: readonly ApplicationEndpoint[], { state: { breakers }, flows }: QueueTurn) {
  if (breakers.size === 0) return {};
  const found = endpoints.flatMap(({ id, url }) => {
    const breaker = breakers.get(breakerUrlOf(calledUrl(url)));
    return breaker === undefined ? [] : [{ endpoint: id, ...breaker, waiting: flows.stoppedAt(breaker.url) }];
  });
  return found.length === 0 ? {} : { breakers: found };
}

function unknownApplication(id: string): QueueReply {
  return rejection('NOT_FOUND', `application ${id} not found`);
}

function unknownEndpoint(id: string): QueueReply {
  return rejection('NOT_FOUND', `endpoint ${id} not found`);
}

function unknownEventType(name: string): QueueReply {
  return rejection('NOT_FOUND', `event type ${name} not found`);
}
