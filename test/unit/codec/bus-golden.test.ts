/**
 * Messages between processes of two releases keep their bytes: commands and answers of an earlier release are read and
 * written with the same bytes. The files in test/fixtures/bus are added to, never edited.
 */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { decodeProcessReport, encodeProcessReport } from '../../../src/codec/cluster/index.js';
import {
  decodeControlApplied,
  decodeControlCommand,
  decodeControlReply,
  encodeControlApplied,
  encodeControlCommand,
  encodeControlReply,
} from '../../../src/codec/control/index.js';
import {
  decodeBootTimes,
  decodeHeartbeat,
  decodeSessionRecord,
  decodeShardLease,
  decodeWishes,
  encodeBootTimes,
  encodeHeartbeat,
  encodeSessionRecord,
  encodeShardLease,
  encodeWishes,
} from '../../../src/codec/leases/index.js';
import {
  decodeQueueCommand,
  decodeQueueReply,
  encodeQueueCommand,
  encodeQueueReply,
} from '../../../src/codec/queue/index.js';
import {
  decodeAnswer,
  decodeKvDelivery,
  decodeRemoteCommand,
  encodeAnswer,
  encodeFailure,
  encodeKvDelivery,
  encodeRemoteCommand,
} from '../../../src/codec/remote/index.js';
import type { SessionId } from '../../../src/kernel/index.js';
import {
  GOLDEN_BOOT_TIMES,
  GOLDEN_CONTROL_REPLIES,
  GOLDEN_DELIVERIES,
  GOLDEN_FAILURE,
  GOLDEN_HEARTBEATS,
  GOLDEN_INSTANT,
  GOLDEN_REMOTE_COMMANDS,
  GOLDEN_REPORTS,
  GOLDEN_SESSIONS,
  GOLDEN_SHARD_LEASES,
  GOLDEN_WISHES,
} from './bus-golden-values.js';

const recorded = (name: string) =>
  Object.entries(
    JSON.parse(readFileSync(`${process.cwd()}/test/fixtures/bus/${name}.json`, 'utf8')) as Record<string, string[]>,
  );
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const bytesOf = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));

describe('messages on the bus keep their recorded bytes', () => {
  for (const [type, texts] of recorded('queue-commands')) {
    it(`the queue command ${type}`, () => {
      for (const text of texts) {
        const asked = decodeQueueCommand(bytesOf(text));
        expect(asked.command.type).to.equal(type);
        expect(hex(encodeQueueCommand(asked))).to.equal(text);
      }
    });
  }

  for (const [type, texts] of recorded('queue-replies')) {
    it(`the queue answer ${type}`, () => {
      for (const text of texts) {
        const reply = decodeQueueReply(bytesOf(text));
        expect(reply.type).to.equal(type);
        expect(hex(encodeQueueReply(reply))).to.equal(text);
      }
    });
  }

  for (const [type, texts] of recorded('control-commands')) {
    it(`the control command ${type}`, () => {
      for (const text of texts) {
        const command = decodeControlCommand(bytesOf(text));
        expect(command.type).to.equal(type);
        expect(hex(encodeControlCommand(command))).to.equal(text);
      }
    });
  }

  const keep = <T>(
    fixture: string,
    name: string,
    values: readonly T[],
    encode: (value: T) => Uint8Array,
    decode: (bytes: Uint8Array) => T,
  ) => {
    it(name, () => {
      const texts = new Map(recorded(fixture)).get(name) ?? [];
      expect(values.map((value) => hex(encode(value)))).to.deep.equal(texts);
      expect(texts.map((text) => decode(bytesOf(text)))).to.deep.equal(values);
    });
  };

  for (const [type, replies] of Object.entries(GOLDEN_CONTROL_REPLIES)) {
    keep('control-replies', `the control answer ${type}`, replies, encodeControlReply, decodeControlReply);
  }

  const applied = { session: 'node-1' as SessionId, position: 70_000 };
  keep('remote', 'the notice of a change', [applied], encodeControlApplied, (bytes) => decodeControlApplied(bytes)!);
  keep('remote', 'a remote command', GOLDEN_REMOTE_COMMANDS, encodeRemoteCommand, decodeRemoteCommand);
  keep('remote', 'what the owner of a partition tells', GOLDEN_DELIVERIES, encodeKvDelivery, decodeKvDelivery);
  keep('leases', 'the lease of a shard', GOLDEN_SHARD_LEASES, encodeShardLease, decodeShardLease);
  keep('leases', 'the record of a session', GOLDEN_SESSIONS, encodeSessionRecord, decodeSessionRecord);
  keep('leases', 'a heartbeat', GOLDEN_HEARTBEATS, encodeHeartbeat, decodeHeartbeat);
  keep('leases', 'boot times', GOLDEN_BOOT_TIMES, encodeBootTimes, decodeBootTimes);
  keep('leases', 'what operators wish', GOLDEN_WISHES, encodeWishes, decodeWishes);
  keep('leases', 'what a process says of itself', GOLDEN_REPORTS, encodeProcessReport, decodeProcessReport);

  it('the answer to a remote command', () => {
    const [answer = '', failure = '', longAgo = ''] = new Map(recorded('remote')).get('the answer to a command') ?? [];
    const body = Uint8Array.of(1, 2, 3);
    expect(hex(encodeAnswer(body, GOLDEN_INSTANT))).to.equal(answer);
    expect(hex(encodeFailure(GOLDEN_FAILURE, GOLDEN_INSTANT))).to.equal(failure);
    expect(decodeAnswer(bytesOf(answer))).to.deep.equal({ from: GOLDEN_INSTANT, result: body });
    const { from, result } = decodeAnswer(bytesOf(failure));
    expect(from).to.deep.equal(GOLDEN_INSTANT);
    expect(result).to.include({ code: 'FENCED', message: 'lost' }).with.property('details');
    expect((result as typeof GOLDEN_FAILURE).details).to.deep.equal(GOLDEN_FAILURE.details);
    expect(decodeAnswer(bytesOf(longAgo))).to.deep.equal({ from: undefined, result: body });
  });
});
