/** Applications, their endpoints and event types. application-commands.ts judges them. */
import { assert } from '../../../../kernel/index.js';
import type { Application, ApplicationEndpoint, EventType } from '../application-records.js';
import type { QueueEventOf } from '../events.js';
import { applicationBytes, applicationEndpointBytes, applicationMemoryBytes, eventTypeBytes } from '../held.js';

interface ApplicationWithEndpoints {
  readonly application: Application;
  readonly endpoints: Map<string, ApplicationEndpoint>;
}

export class Applications {
  readonly #byId = new Map<string, ApplicationWithEndpoints>();
  readonly #idByUid = new Map<string, string>();
  readonly #eventTypes = new Map<string, EventType>();
  #bytes = 0;
  #count = 0;

  /** Bytes of the texts of all. */
  get bytes(): number {
    return this.#bytes;
  }

  get memoryBytes(): number {
    return applicationMemoryBytes(this.#count, this.#bytes);
  }

  /** Applications, endpoints and event types. */
  get size(): number {
    return this.#count;
  }

  get applicationCount(): number {
    return this.#byId.size;
  }

  get eventTypeCount(): number {
    return this.#eventTypes.size;
  }

  /** @param name the id or the uid */
  get(name: string): Application | undefined {
    return (this.#byId.get(name) ?? this.#byId.get(this.#idByUid.get(name) ?? ''))?.application;
  }

  all(): Iterable<Application> {
    return Array.from(this.#byId.values(), ({ application }) => application);
  }

  endpointsOf(application: string): readonly ApplicationEndpoint[] {
    return [...(this.#byId.get(application)?.endpoints.values() ?? [])];
  }

  endpointCountOf(application: string): number {
    return this.#byId.get(application)?.endpoints.size ?? 0;
  }

  endpoint(application: string, id: string): ApplicationEndpoint | undefined {
    return this.#byId.get(application)?.endpoints.get(id);
  }

  eventType(name: string): EventType | undefined {
    return this.#eventTypes.get(name);
  }

  eventTypes(): Iterable<EventType> {
    return this.#eventTypes.values();
  }

  set({ application }: QueueEventOf<'ApplicationSet'>): void {
    const before = this.#byId.get(application.id);
    if (before !== undefined) this.#forget(before.application);
    this.#byId.set(application.id, { application, endpoints: before?.endpoints ?? new Map() });
    if (application.uid !== undefined) this.#idByUid.set(application.uid, application.id);
    this.#weigh(applicationBytes(application), 1);
  }

  delete({ id }: QueueEventOf<'ApplicationDeleted'>): void {
    const held = this.#byId.get(id);
    assert(held !== undefined, 'an application goes that is not there', { id });
    for (const endpoint of held.endpoints.values()) this.#weigh(applicationEndpointBytes(endpoint), -1);
    this.#forget(held.application);
    this.#byId.delete(id);
  }

  setEndpoint({ endpoint }: QueueEventOf<'ApplicationEndpointSet'>): void {
    const held = this.#byId.get(endpoint.application);
    assert(held !== undefined, 'an endpoint of an application that is not there', { id: endpoint.id });
    const before = held.endpoints.get(endpoint.id);
    if (before !== undefined) this.#weigh(applicationEndpointBytes(before), -1);
    held.endpoints.set(endpoint.id, endpoint);
    this.#weigh(applicationEndpointBytes(endpoint), 1);
  }

  deleteEndpoint({ application, id }: QueueEventOf<'ApplicationEndpointDeleted'>): void {
    const endpoints = this.#byId.get(application)?.endpoints;
    const before = endpoints?.get(id);
    assert(before !== undefined, 'an endpoint of an application goes that is not there', { id });
    endpoints?.delete(id);
    this.#weigh(applicationEndpointBytes(before), -1);
  }

  setEventType({ eventType }: QueueEventOf<'EventTypeSet'>): void {
    const before = this.#eventTypes.get(eventType.name);
    if (before !== undefined) this.#weigh(eventTypeBytes(before), -1);
    this.#eventTypes.set(eventType.name, eventType);
    this.#weigh(eventTypeBytes(eventType), 1);
  }

  deleteEventType({ name }: QueueEventOf<'EventTypeDeleted'>): void {
    const before = this.#eventTypes.get(name);
    assert(before !== undefined, 'an event type goes that is not there', { name });
    this.#eventTypes.delete(name);
    this.#weigh(eventTypeBytes(before), -1);
  }

  /** The events of a snapshot are those that set the present records. */
  *rebuildingEvents(
    atMs: number,
  ): Iterable<QueueEventOf<'ApplicationSet' | 'ApplicationEndpointSet' | 'EventTypeSet'>> {
    for (const eventType of this.#eventTypes.values()) yield { type: 'EventTypeSet', eventType, atMs };
    for (const { application, endpoints } of this.#byId.values()) {
      yield { type: 'ApplicationSet', application, atMs };
      for (const endpoint of endpoints.values()) yield { type: 'ApplicationEndpointSet', endpoint, atMs };
    }
  }

  #forget(application: Application): void {
    if (application.uid !== undefined) this.#idByUid.delete(application.uid);
    this.#weigh(applicationBytes(application), -1);
  }

  /** @param sign -1 when the record is removed */
  #weigh(bytes: number, sign: 1 | -1): void {
    this.#bytes += sign * bytes;
    this.#count += sign;
  }
}
