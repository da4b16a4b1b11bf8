/**
 * URL groups: named sets of endpoints, and the configuration that every publish to one begins with.
 *
 *  G1 a group has at least one endpoint: the last one that leaves takes the group with it
 *  G2 no two endpoints of a group have one name, or one URL. What is put in replaces the endpoint of its name, else
 *     the one of its URL, and stands where that stood; a name that was given stays until another is
 *  G3 a group's configuration is one that a publish could have: it is judged when it is set
 *  G4 a command that changes nothing records nothing
 */
import { assert } from '../../kernel/index.js';
import type { QueueCommandOf, QueueReply } from './commands.js';
import { type QueueContext, rejection } from './decision.js';
import { parseDestinationUrl } from './destination.js';
import type { QueueEvent, QueueEventOf } from './events.js';
import { headerListProblem } from './header-names.js';
import { type GroupTexts, groupBytes, groupMemoryBytes } from './held.js';
import { nameProblem } from './names.js';
import { parseSettings } from './publish-settings.js';
import type { GroupEndpoint, HeaderList, UrlGroup } from './records.js';

export type GroupCommand = QueueCommandOf<
  'UpsertEndpoints' | 'RemoveEndpoints' | 'SetGroupDefaults' | 'DeleteGroup' | 'GetGroup' | 'ListGroups'
>;
export type GroupEvent = QueueEventOf<'GroupSet' | 'GroupDeleted' | 'GroupRestored'>;

/** Is there room for the group in place of the one before? */
export type GroupJudge = (after: GroupTexts, before: UrlGroup | undefined) => QueueReply | undefined;

const DONE: QueueReply = { type: 'Done' };

export class Groups {
  readonly #byName = new Map<string, UrlGroup>();
  #bytes = 0;
  #memoryBytes = 0;

  /** Of the texts of all. */
  get bytes(): number {
    return this.#bytes;
  }

  get memoryBytes(): number {
    return this.#memoryBytes;
  }

  get size(): number {
    return this.#byName.size;
  }

  get(name: string): UrlGroup | undefined {
    return this.#byName.get(name);
  }

  evolve(event: GroupEvent): void {
    switch (event.type) {
      case 'GroupSet': {
        const { name, endpoints, defaults, atMs } = event;
        const createdAtMs = this.#byName.get(name)?.createdAtMs ?? atMs;
        this.#put({ name, endpoints, defaults, createdAtMs, updatedAtMs: atMs });
        return;
      }
      case 'GroupDeleted':
        this.#weigh(this.#byName.get(event.name), -1);
        assert(this.#byName.delete(event.name), 'a group goes that is not there', { name: event.name });
        return;
      case 'GroupRestored':
        this.#put(event.group);
    }
  }

  #put(group: UrlGroup): void {
    this.#weigh(this.#byName.get(group.name), -1);
    this.#byName.set(group.name, group);
    this.#weigh(group, 1);
  }

  /** @param sign -1: it goes */
  #weigh(group: UrlGroup | undefined, sign: 1 | -1): void {
    if (group === undefined) return;
    this.#bytes += sign * groupBytes(group);
    this.#memoryBytes += sign * groupMemoryBytes(group);
  }

  *rebuildingEvents(): Iterable<GroupEvent> {
    for (const group of this.#byName.values()) yield { type: 'GroupRestored', group };
  }

  /** @param apply applies an event to the whole state, this included, and records it */
  execute(
    command: GroupCommand,
    context: QueueContext,
    apply: (event: QueueEvent) => void,
    judge: GroupJudge = () => undefined,
  ): QueueReply {
    switch (command.type) {
      case 'UpsertEndpoints':
        return this.#upsert(command, context, apply, judge);
      case 'RemoveEndpoints':
        return this.#remove(command, context, apply);
      case 'SetGroupDefaults':
        return this.#setDefaults(command, context, apply, judge);
      case 'DeleteGroup':
        if (this.#byName.has(command.group)) apply({ type: 'GroupDeleted', name: command.group, atMs: context.nowMs });
        return DONE;
      case 'GetGroup': {
        const group = this.#byName.get(command.group);
        return group === undefined ? notFound(command.group) : { type: 'Groups', groups: [group] };
      }
      case 'ListGroups':
        return { type: 'Groups', groups: [...this.#byName.values()] };
    }
  }

  #upsert(
    command: QueueCommandOf<'UpsertEndpoints'>,
    { nowMs, account: { limits } }: QueueContext,
    apply: (event: QueueEvent) => void,
    judge: GroupJudge,
  ): QueueReply {
    const problem = nameProblem('url group name', command.group) ?? endpointsProblem(command.endpoints);
    if (problem !== undefined) return rejection('INVALID', problem);
    const group = this.#byName.get(command.group);
    if (group === undefined && this.#byName.size >= limits.maxGroups) return tooMany('maxGroups', limits.maxGroups);
    const before = group?.endpoints ?? [];
    const endpoints = merged(before, command.endpoints);
    // A group that is above a limit which was lowered may still change, only not grow.
    if (endpoints.length > limits.maxEndpointsPerGroup && endpoints.length > before.length) {
      return tooMany('maxEndpointsPerGroup', limits.maxEndpointsPerGroup);
    }
    if (areEqual(before, endpoints)) return DONE;
    const after = { name: command.group, endpoints, defaults: group?.defaults ?? [] };
    const refusal = judge(after, group);
    if (refusal !== undefined) return refusal;
    apply({ type: 'GroupSet', ...after, atMs: nowMs });
    return DONE;
  }

  #remove(
    command: QueueCommandOf<'RemoveEndpoints'>,
    { nowMs }: QueueContext,
    apply: (event: QueueEvent) => void,
  ): QueueReply {
    const group = this.#byName.get(command.group);
    if (group === undefined) return notFound(command.group);
    if (command.endpoints.some(({ url, name }) => url === undefined && name === undefined)) {
      return rejection('INVALID', 'an endpoint to remove has neither url nor name');
    }
    const endpoints = without(group.endpoints, command.endpoints);
    if (endpoints.length === 0) apply({ type: 'GroupDeleted', name: group.name, atMs: nowMs });
    else if (endpoints.length < group.endpoints.length) {
      apply({ type: 'GroupSet', name: group.name, endpoints, defaults: group.defaults, atMs: nowMs });
    }
    return DONE;
  }

  #setDefaults(
    { group: name, defaults }: QueueCommandOf<'SetGroupDefaults'>,
    { nowMs, account: { limits } }: QueueContext,
    apply: (event: QueueEvent) => void,
    judge: GroupJudge,
  ): QueueReply {
    const group = this.#byName.get(name);
    if (group === undefined) return notFound(name);
    const problem = headerListProblem(defaults);
    if (problem !== undefined) return rejection('INVALID', problem);
    const outcome = parseSettings({ headers: defaults, query: [] }, { limits, nowMs, of: 'publish' });
    if (!outcome.isOk) return rejection('INVALID', outcome.message);
    if (areSameHeaders(group.defaults, defaults)) return DONE;
    const after = { name, endpoints: group.endpoints, defaults };
    const refusal = judge(after, group);
    if (refusal !== undefined) return refusal;
    apply({ type: 'GroupSet', ...after, atMs: nowMs });
    return DONE;
  }
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

/** G2, in one pass over both. */
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

/** A row with both a URL and a name means the one that has both. */
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
