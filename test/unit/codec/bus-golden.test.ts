/**
 * What processes of two releases say to each other keeps its bytes: commands and answers as an earlier release wrote
 * them are read, and written again as they were. The files in test/fixtures/bus are added to, never edited.
 */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { decodeControlCommand, encodeControlCommand } from '../../../src/codec/control/index.js';
import {
  decodeQueueCommand,
  decodeQueueReply,
  encodeQueueCommand,
  encodeQueueReply,
} from '../../../src/codec/queue/index.js';

const recorded = (name: string) =>
  Object.entries(
    JSON.parse(readFileSync(`${process.cwd()}/test/fixtures/bus/${name}.json`, 'utf8')) as Record<string, string[]>,
  );
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const bytesOf = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));

describe('what crosses the bus keeps its bytes', () => {
  for (const [type, texts] of recorded('queue-commands')) {
    it(`the queue's command ${type}`, () => {
      for (const text of texts) {
        const asked = decodeQueueCommand(bytesOf(text));
        expect(asked.command.type).to.equal(type);
        expect(hex(encodeQueueCommand(asked))).to.equal(text);
      }
    });
  }

  for (const [type, texts] of recorded('queue-replies')) {
    it(`the queue's answer ${type}`, () => {
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
});
