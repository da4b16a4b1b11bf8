/**
 * Commands and replies about applications, their endpoints, and event types. A changing command has a value for each
 * member that changes: the owner merges them, so that two changes at the same time do not undo each other.
 */
import {
  flag,
  kind,
  listOf,
  optional,
  pairsOfTexts,
  record,
  text,
  trailing,
  whole,
} from '../../../kernel/schema/index.js';
import {
  application,
  applicationEndpoint,
  applicationRate,
  eventType,
  newEndpointSecret,
  revokedLink,
} from './application-records.js';
import { breakerFields, headerList, optionalText, texts } from './records.js';

/** A breaker, with the due messages that wait for its destination. */
export const breakerViewFields = { ...breakerFields, waiting: whole };

export const applicationCommands = {
  /** Creates the application, or changes an existing one. A uid of no characters and a rate of 0 remove theirs. */
  SetApplication: kind(55, {
    id: text(),
    isNew: flag,
    uid: optionalText,
    name: optionalText,
    metadata: optional(pairsOfTexts),
    rate: optional(applicationRate),
    /** Of no characters: removes it. */
    notifyUrl: trailing(text()),
    email: trailing(text()),
  }),
  DeleteApplication: kind(56, { id: text() }),
  /** `id` may be the uid. With `eventType` the reply has that type too, unless there is none. */
  GetApplication: kind(57, { id: text(), eventType: optionalText }),
  /** One page by id; `search` is a part of the name, the uid or the id. */
  ListApplications: kind(58, { search: optionalText, after: optionalText, count: whole }),
  /** Creates the endpoint with its secrets, or changes an existing one. */
  SetApplicationEndpoint: kind(59, {
    application: text(),
    id: text(),
    isNew: flag,
    url: optionalText,
    description: optionalText,
    eventTypes: optional(texts),
    filter: optionalText,
    header: optional(headerList),
    isDisabled: optional(flag),
    secrets: listOf(newEndpointSecret),
  }),
  DeleteApplicationEndpoint: kind(60, { application: text(), id: text() }),
  /** Adds a secret; those with the same version sign for `keepsMs` more. */
  RotateEndpointSecret: kind(61, {
    application: text(),
    endpoint: text(),
    secret: newEndpointSecret,
    keepsMs: whole,
  }),
  SetEventType: kind(62, {
    name: text(),
    isNew: flag,
    description: optionalText,
    schema: optionalText,
    examples: optionalText,
    isArchived: optional(flag),
  }),
  DeleteEventType: kind(63, { name: text() }),
  /** One page by name. */
  ListEventTypes: kind(64, { after: optionalText, count: whole }),
  /** Revokes one link to the portal, or all before a generation. */
  RevokePortalLinks: kind(65, { application: text(), generation: optional(whole), link: optional(revokedLink) }),
};

export const applicationReplies = {
  /** The application, with the endpoints that the command is about. */
  Application: kind(30, {
    application,
    endpoints: listOf(applicationEndpoint),
    eventType: optional(eventType),
    /** Of the endpoints with failures. */
    breakers: trailing(listOf(record({ endpoint: text(), ...breakerViewFields }))),
  }),
  /** `after`: undefined at the end. `total`: on all pages. */
  Applications: kind(31, {
    applications: listOf(application),
    /** The number of endpoints of each. */
    endpointCounts: listOf(whole),
    after: optionalText,
    total: whole,
  }),
  EventTypes: kind(32, { eventTypes: listOf(eventType), after: optionalText }),
};
