/**
 * Applications: customers of the account's owner, with the endpoints that each has for webhooks, and the types of
 * events that are sent to them. The order of fields is the stored format: SHP1 (a field is never moved or removed).
 */
import {
  flag,
  listOf,
  oneOf,
  optional,
  pairsOfTexts,
  record,
  type TypeOf,
  text,
  trailing,
  whole,
} from '../../../kernel/schema/index.js';
import { headerList, optionalText, texts } from './records.js';

/** The application's messages started per period. */
export const applicationRate = record({ rate: whole, periodSeconds: whole });
/** A link to the portal that was revoked, until its own end. */
export const revokedLink = record({ id: text(), untilMs: whole });

const portalLinks = record({
  /** Links of earlier generations are revoked. */
  generation: whole,
  /** Single links of this generation. */
  revoked: listOf(revokedLink),
});

export const application = record({
  id: text(),
  /** The owner's id of the customer, unique in the account; it names the application in paths, too. */
  uid: optionalText,
  name: text(),
  metadata: pairsOfTexts,
  rate: optional(applicationRate),
  createdAtMs: whole,
  updatedAtMs: whole,
  /** Of the customer: gets a message when an endpoint is stopped, disabled or working again. */
  notifyUrl: trailing(text()),
  /** Left out: no link was revoked. */
  portalLinks: trailing(portalLinks),
  /** Of the customer: gets a mail in the same cases as `notifyUrl`. */
  email: trailing(text()),
});
export type Application = TypeOf<typeof application>;

/** Versions of signatures: `v1` is HMAC-SHA256, `v1a` is Ed25519. Stored by index. */
export const SIGNATURE_VERSIONS = ['v1', 'v1a'] as const;

/** A secret as the caller makes it, sealed with the installation's key file. */
export const newEndpointSecret = record({ version: oneOf(...SIGNATURE_VERSIONS), sealed: text() });
export type NewEndpointSecret = TypeOf<typeof newEndpointSecret>;

const endpointSecret = record({
  version: oneOf(...SIGNATURE_VERSIONS),
  sealed: text(),
  createdAtMs: whole,
  /** Set by a rotation: until then the secret still signs. */
  expiresAtMs: optional(whole),
});
export type EndpointSecret = TypeOf<typeof endpointSecret>;

export const applicationEndpoint = record({
  id: text(),
  application: text(),
  url: text(),
  description: text(),
  /** Names of event types; empty: all. */
  eventTypes: texts,
  /** An expression of the filter language of search on the payload; empty: none. */
  filter: text(),
  header: headerList,
  /** Newest first. */
  secrets: listOf(endpointSecret),
  isDisabled: flag,
  createdAtMs: whole,
  updatedAtMs: whole,
});
export type ApplicationEndpoint = TypeOf<typeof applicationEndpoint>;

export const eventType = record({
  name: text(),
  description: text(),
  /** A JSON schema of payloads as text; empty: none. */
  schema: text(),
  /** A list of payloads as JSON text. */
  examples: text(),
  isArchived: flag,
  createdAtMs: whole,
  updatedAtMs: whole,
});
export type EventType = TypeOf<typeof eventType>;

/** Marks a published message as a webhook to an endpoint of an application. */
export const webhookItem = record({
  application: text(),
  endpoint: text(),
  /** The `webhook-id`: the same at each attempt, at every endpoint and after a replay. */
  id: text(),
  eventType: text(),
});
