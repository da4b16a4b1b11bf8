/**
 * Envelopes ↔ bytes. An envelope is written as bytes within the record that refers to it, so that it is encoded
 * once for all messages that share the object, and decoded once for all that carry the same bytes: those get
 * the same object. Both memories are bounded by bytes; what they have forgotten is made again.
 */
import type { Envelope } from '../../domain/queue/index.js';
import { GenerationCache } from './generation-cache.js';
import { Packer } from './packer.js';
import { messageId, optionalText, scheduleId, settings } from './queue-shapes.js';
import { flag, optional, record, type Shape, text, trailing } from './shapes.js';
import { Unpacker } from './unpacker.js';
import { workflowMark } from './workflow-shapes.js';

/** Of one generation of one memory: some ten thousand envelopes of common size. */
const CACHED_BYTES = 4 * 1024 * 1024;
/** What an envelope takes beside its bytes, about: so that many small ones count too. */
const OBJECT_BYTES = 400;

const shape = record<Envelope>({
  url: text(),
  settings,
  queueName: optionalText,
  scheduleId: optional(scheduleId),
  topicName: optionalText,
  endpointName: optionalText,
  callerIp: text(),
  isAlias: flag,
  callbackOf: optional(messageId),
  workflow: trailing(workflowMark),
});

/** Its own: an envelope is encoded while the event that holds it is. */
const packer = new Packer();
const bytesByEnvelope = new GenerationCache<Envelope, Uint8Array>(CACHED_BYTES);
const envelopesByBytes = new GenerationCache<string, Envelope>(CACHED_BYTES);

export const envelope: Shape<Envelope> = {
  write: (out, value) => {
    let encoded = bytesByEnvelope.get(value);
    if (encoded === undefined) {
      encoded = Uint8Array.from(packer.pack((inner) => shape.write(inner, value)));
      bytesByEnvelope.set(value, encoded, encoded.length + OBJECT_BYTES);
    }
    out.bytes(encoded);
  },
  read: (from) => {
    const key = from.bytesAsLatin1();
    const known = envelopesByBytes.get(key);
    if (known !== undefined) return known;
    const inner = new Unpacker(Buffer.from(key, 'latin1'));
    const value = shape.read(inner);
    inner.end();
    envelopesByBytes.set(key, value, key.length + OBJECT_BYTES);
    return value;
  },
};
