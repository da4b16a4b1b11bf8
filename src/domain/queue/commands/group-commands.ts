/**
 * Commands about URL groups.
 *
 *  GR1 a group has at least one endpoint: removing the last one removes the group
 *  GR2 no two endpoints of a group have the same name or URL. A new endpoint replaces the one with its name, else the
 *      one with its URL, at the same place; a given name stays until another is given
 *  GR3 a group's configuration must be valid for a publish: it is judged when it is set
 *  GR4 a command that changes no state records no event
 */
import { groupRefusal } from '../messages/held-refusal.js';
import type { QueueTurn } from '../messages/turn.js';
import type { QueueCommandOf, QueueReply } from '../model/commands.js';
import { rejection } from '../model/decision.js';
import type { GroupEndpoint, HeaderList } from '../model/records.js';
import { parseDestinationUrl } from '../model/settings/destination.js';
import { headerListProblem } from '../model/settings/header-names.js';
import { nameProblem } from '../model/settings/names.js';
import { parseSettings } from '../model/settings/publish-settings.js';

const DONE: QueueReply = { type: 'Done' };

export function upsertEndpoints(command: QueueCommandOf<'UpsertEndpoints'>, turn: QueueTurn): QueueReply {
  const { state, context, evolve } = turn;
  const { limits } = context.account;
  const problem = nameProblem('url group name', command.group) ?? endpointsProblem(command.endpoints);
  if (problem !== undefined) return rejection('INVALID', problem);
  const group = state.groups.get(command.group);
  if (group === undefined && state.groups.size >= limits.maxGroups) return tooMany('maxGroups', limits.maxGroups);
  const before = group?.endpoints ?? [];
  const endpoints = merged(before, command.endpoints);
  // A group above a lowered limit may change, but not grow.
  if (endpoints.length > limits.maxEndpointsPerGroup && endpoints.length > before.length) {
    return tooMany('maxEndpointsPerGroup', limits.maxEndpointsPerGroup);
  }
  if (areEqual(before, endpoints)) return DONE;
  const after = { name: command.group, endpoints, defaults: group?.defaults ?? [] };
  const refusal = groupRefusal(after, group, state, context);
  if (refusal !== undefined) return refusal;
  evolve({ type: 'GroupSet', ...after, atMs: context.nowMs });
  return DONE;
}

export function removeEndpoints(command: QueueCommandOf<'RemoveEndpoints'>, turn: QueueTurn): QueueReply {
  const { state, context, evolve } = turn;
  const group = state.groups.get(command.group);
  if (group === undefined) return notFound(command.group);
  if (command.endpoints.some(({ url, name }) => url === undefined && name === undefined)) {
    return rejection('INVALID', 'an endpoint to remove has neither url nor name');
  }
  const { name, defaults } = group;
  const endpoints = without(group.endpoints, command.endpoints);
  if (endpoints.length === 0) evolve({ type: 'GroupDeleted', name, atMs: context.nowMs });
  else if (endpoints.length < group.endpoints.length) {
    evolve({ type: 'GroupSet', name, endpoints, defaults, atMs: context.nowMs });
  }
  return DONE;
}

export function setGroupDefaults(command: QueueCommandOf<'SetGroupDefaults'>, turn: QueueTurn): QueueReply {
  const { group: name, defaults } = command;
  const { state, context, evolve } = turn;
  const { nowMs } = context;
  const group = state.groups.get(name);
  if (group === undefined) return notFound(name);
  const problem = headerListProblem(defaults);
  if (problem !== undefined) return rejection('INVALID', problem);
  const asSettings = { limits: context.account.limits, nowMs, of: 'publish' } as const;
  const outcome = parseSettings({ headers: defaults, query: [] }, asSettings);
  if (!outcome.isOk) return rejection('INVALID', outcome.message);
  if (areSameHeaders(group.defaults, defaults)) return DONE;
  const after = { name, endpoints: group.endpoints, defaults };
  const refusal = groupRefusal(after, group, state, context);
  if (refusal !== undefined) return refusal;
  evolve({ type: 'GroupSet', ...after, atMs: nowMs });
  return DONE;
}

export function deleteGroup(
  { group: name }: QueueCommandOf<'DeleteGroup'>,
  { state, context, evolve }: QueueTurn,
): QueueReply {
  if (state.groups.get(name) !== undefined) evolve({ type: 'GroupDeleted', name, atMs: context.nowMs });
  return DONE;
}

export function getGroup({ group: name }: QueueCommandOf<'GetGroup'>, { state }: QueueTurn): QueueReply {
  const group = state.groups.get(name);
  return group === undefined ? notFound(name) : { type: 'Groups', groups: [group] };
}

export function listGroups(_: QueueCommandOf<'ListGroups'>, { state }: QueueTurn): QueueReply {
  return { type: 'Groups', groups: [...state.groups.all()] };
}

function notFound(name: string): QueueReply {
  return rejection('NOT_FOUND', `url group ${name} not found`);
}

function tooMany(field: string, limit: number): QueueReply {
  return rejection('TOO_MANY', `quota ${field} exceeded, current limit: ${limit}`);
}

function endpointsProblem(endpoints: readonly GroupEndpoint[]): string | undefined {
  if (endpoints.length === 0) return 'a url group needs at least one endpoint';
  for (const { url, name } of endpoints) {
    const outcome = parseDestinationUrl(url, 'endpoint');
    if (!outcome.isOk) return outcome.message;
    const problem = name === undefined ? undefined : nameProblem('endpoint name', name);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Applies GR2 (no two endpoints have the same name or URL) in one pass over both lists. */
function merged(before: readonly GroupEndpoint[], incoming: readonly GroupEndpoint[]): readonly GroupEndpoint[] {
  const slots: (GroupEndpoint | undefined)[] = [];
  const byName = new Map<string, number>();
  const byUrl = new Map<string, number>();
  const place = (endpoint: GroupEndpoint, slot: number): void => {
    slots[slot] = endpoint;
    byUrl.set(endpoint.url, slot);
    if (endpoint.name !== undefined) byName.set(endpoint.name, slot);
  };
  const clear = (slot: number): void => {
    const { url, name } = slots[slot] as GroupEndpoint;
    byUrl.delete(url);
    if (name !== undefined) byName.delete(name);
    slots[slot] = undefined;
  };
  for (const endpoint of before) place(endpoint, slots.length);
  for (const { url, name } of incoming) {
    const ofName = name === undefined ? undefined : byName.get(name);
    const ofUrl = byUrl.get(url);
    const slot = ofName ?? ofUrl ?? slots.length;
    const kept = name ?? slots[slot]?.name;
    if (ofUrl !== undefined && ofUrl !== slot) clear(ofUrl);
    if (slots[slot] !== undefined) clear(slot);
    place({ url, name: kept }, slot);
  }
  return slots.filter((endpoint) => endpoint !== undefined);
}

type Row = QueueCommandOf<'RemoveEndpoints'>['endpoints'][number];

/** A row with both a URL and a name matches only an endpoint with both. */
function without(endpoints: readonly GroupEndpoint[], rows: readonly Row[]): readonly GroupEndpoint[] {
  const names = new Set(rows.filter(({ url }) => url === undefined).map(({ name }) => name));
  const urls = new Map<string, (string | undefined)[]>();
  for (const { url, name } of rows) if (url !== undefined) urls.set(url, [...(urls.get(url) ?? []), name]);
  return endpoints.filter(({ url, name }) => {
    if (name !== undefined && names.has(name)) return false;
    const asked = urls.get(url);
    return asked === undefined || !(asked.includes(undefined) || asked.includes(name));
  });
}

function areEqual(a: readonly GroupEndpoint[], b: readonly GroupEndpoint[]): boolean {
  return a.length === b.length && a.every(({ url, name }, at) => url === b[at]?.url && name === b[at]?.name);
}

function areSameHeaders(a: HeaderList, b: HeaderList): boolean {
  return a.length === b.length && a.every(([name, value], at) => name === b[at]?.[0] && value === b[at]?.[1]);
}
