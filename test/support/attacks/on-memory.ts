/**
 * Attacks on memory: answers that the client does not read, stored values, names and transactions, and requests that
 * never end.
 */
import { expect } from 'chai';
import { encodeCommand } from '../../../src/codec/resp/command-reader.js';
import { eventually } from '../eventually.js';
import { A_WHILE, type Attack, flush, KV_REFUSALS, MIB, sendUntilRefused } from './attack.js';

const named = (at: number) => `${at}`.padEnd(MIB - 10, 'x');

export const UNREAD_PIPELINES: Attack = {
  title: 'RESP pipelines of 1,000 GETs of a megabyte each, without reading a reply',
  run: async (attacker) => {
    expect((await attacker.rest(['SET', 'large', 'x'.repeat(MIB)])).status).to.equal(200);
    const pipeline = encodeCommand(['GET', 'large']).repeat(1000);
    for (let i = 0; i < 6; i += 1) {
      const connection = await attacker.openRawResp();
      connection.stopReading();
      void connection.write(pipeline);
    }
  },
  undo: flush,
};

const UNREAD_REST_PIPELINES: Attack = {
  title: '30 REST pipelines of 1,000 GETs of a megabyte each, without reading a response',
  run: async (attacker) => {
    expect((await attacker.rest(['SET', 'large', 'x'.repeat(MIB)])).status).to.equal(200);
    const body = JSON.stringify(Array.from({ length: 1000 }, () => ['GET', 'large']));
    const head = `POST /pipeline HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${attacker.credentials.readOnlyToken}\r\n`;
    for (let i = 0; i < 30; i += 1) {
      const connection = await attacker.openRaw('kv');
      connection.stopReading();
      void connection.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
    }
  },
  undo: flush,
};

export const LARGE_VALUES: Attack = {
  title: 'SETs of 500 KB until the database refuses them',
  run: async (attacker) => {
    const value = 'x'.repeat(500_000);
    const refusal = await sendUntilRefused(await attacker.resp(), 4000, (at) => ['SET', `key:${at}`, value]);
    expect(refusal).to.match(/^-OOM /);
  },
  undo: flush,
};

const LONG_WATCHES: Attack = {
  title: 'WATCH with key names of a megabyte',
  run: async (attacker) => {
    const refusal = await sendUntilRefused(await attacker.resp(), 1000, (at) => ['WATCH', named(at)]);
    expect(refusal).to.match(KV_REFUSALS);
  },
};

const LONG_CHANNELS: Attack = {
  title: 'SUBSCRIBE to channel names of a megabyte',
  run: async (attacker) => {
    const refusal = await sendUntilRefused(await attacker.resp(), 1000, (at) => ['SUBSCRIBE', named(at)]);
    expect(refusal).to.match(KV_REFUSALS);
  },
};

export const LARGE_TRANSACTIONS: Attack = {
  title: 'transactions of 60 MB on 30 connections',
  run: async (attacker) => {
    const piece = encodeCommand(['SET', 'k', 'x'.repeat(6 * MIB)]);
    const connections = await Promise.all(Array.from({ length: 30 }, () => attacker.openRawResp()));
    const written = connections.map(async (connection) => {
      await connection.write(encodeCommand(['MULTI']));
      for (let i = 0; i < 10 && !connection.isClosed; i += 1) await connection.write(piece);
    });
    const isAllAccepted = Promise.all(written).then(() =>
      connections.every(({ receivedTail }) => /QUEUED\r\n$/.test(receivedTail)),
    );
    // A write that never completes is accepted like an error: the server has stopped reading.
    const timeIsOver = attacker.waitForSteadyTenant(2 * A_WHILE).then(() => false);
    expect(await Promise.race([isAllAccepted, timeIsOver]), 'all of it is taken').to.equal(false);
  },
};

export const ENDLESS_VALUES: Attack = {
  title: '300 commands with a value that is never completed',
  run: async (attacker) => {
    const begun = '*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$9000000\r\n';
    const half = Buffer.alloc(3 * MIB, 'x');
    for (let i = 0; i < 300; i += 1) {
      const connection = await attacker.openRawResp();
      await connection.write(begun);
      void connection.write(half);
    }
  },
};

const UNAUTHENTICATED_BODIES: Attack = {
  title: 'request bodies of 64 MiB without credentials',
  run: async (attacker) => {
    const piece = Buffer.alloc(MIB, 'x');
    const places = { kv: '/', queue: '/v2/batch', mgmt: '/v2/kv/database' };
    const sent = Object.entries(places).flatMap(([face, path]) =>
      Array.from({ length: 20 }, async () => {
        const connection = await attacker.openRaw(face);
        void connection.write(`POST ${path} HTTP/1.1\r\nHost: one\r\nContent-Length: ${64 * MIB}\r\n\r\n`);
        for (let i = 0; i < 64 && !connection.isClosed; i += 1) await connection.write(piece);
        await eventually(() => expect(connection.isClosed).to.equal(true));
        expect(connection.received).to.match(/^HTTP\/1\.1 401 /);
      }),
    );
    await Promise.all(sent);
  },
};

export const ON_MEMORY: readonly Attack[] = [
  UNREAD_PIPELINES,
  UNREAD_REST_PIPELINES,
  LARGE_VALUES,
  LONG_WATCHES,
  LONG_CHANNELS,
  LARGE_TRANSACTIONS,
  ENDLESS_VALUES,
  UNAUTHENTICATED_BODIES,
];
