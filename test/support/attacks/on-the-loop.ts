/** Attacks on the event loop: commands that read very many elements, and scripts that never end. */
import { expect } from 'chai';
import { eventually } from '../eventually.js';
import { type Attack, flush, MIB } from './attack.js';
import type { Attacker, HttpAnswer } from './attacker.js';

/** Each command succeeds, or is refused because of its work or because of missing memory. */
function expectClear(answers: readonly HttpAnswer[]): void {
  for (const { status, text } of answers) expect(status, text).to.be.oneOf([200, 400, 429, 503]);
}

const many = (count: number, word: string) => Array.from({ length: count }, () => word);

export const MANY_SOURCES: Attack = {
  title: 'SINTER of 1,000 sources with the read-only token',
  run: async (attacker) => {
    const members = Array.from({ length: 10_000 }, (_, at) => `member:${at}`);
    expect((await attacker.rest(['SADD', 'set', ...members])).status).to.equal(200);
    const words = ['SINTER', ...many(1000, 'set')];
    const asked = Array.from({ length: 6 }, () => attacker.rest(words, attacker.credentials.readOnlyToken));
    expectClear(await Promise.all(asked));
  },
  undo: flush,
};

const LONG_SORT: Attack = {
  title: 'SORT of 100,000 elements with 1,000 GET patterns',
  run: async (attacker) => {
    const members = Array.from({ length: 100_000 }, (_, at) => at);
    expect((await attacker.rest(['RPUSH', 'list', ...members])).status).to.equal(200);
    const gets = many(1000, 'GET').flatMap((word) => [word, 'key:*']);
    const asked = Array.from({ length: 3 }, (_, at) =>
      attacker.rest(['SORT', 'list', 'LIMIT', 0, 10 ** (5 - at), ...gets]),
    );
    const answers = await Promise.all(asked);
    expectClear(answers);
    expect(answers[0]?.text).to.include('answer too large');
  },
  undo: flush,
};

export const LONG_COMMANDS: Attack = {
  title: 'the commands with the longest execution: ZUNIONSTORE, BITOP, JSON.GET and MGET',
  run: async (attacker) => {
    const members = Array.from({ length: 20_000 }, (_, at) => `member:${at}`);
    const scored = members.flatMap((member, at) => [at, member]);
    const document = JSON.stringify({ a: members.map((member) => ({ b: member })) });
    const prepared = [
      ['ZADD', 'zset', ...scored],
      ['SETRANGE', 'bits', 9 * MIB, 'x'],
      ['JSON.SET', 'document', '$', document],
    ];
    for (const words of prepared) expect((await attacker.rest(words)).status, String(words[0])).to.equal(200);
    const long = [
      ['ZUNIONSTORE', 'union', 200, ...many(200, 'zset')],
      ['BITOP', 'XOR', 'result', ...many(50, 'bits')],
      ['JSON.GET', 'document', ...Array.from({ length: 200 }, (_, from) => `$.a[${from}:].b`)],
      ['MGET', ...many(50_000, 'bits')],
    ];
    const answers = await Promise.all(long.map((words) => attacker.rest(words)));
    expectClear(answers);
    // A command of any kind is refused with BUSY if it waits too long for another command.
    const refused = answers.filter(({ text }) => text.includes('answer too large') || text.includes('BUSY'));
    expect(refused).to.have.length.at.least(1);
  },
  undo: flush,
};

const ENDLESS = 'while true do end';
const GROWING = "local t = {} while true do t[#t + 1] = string.rep('x', 1000) .. #t end";

/**
 * Each script is ended by repeated SCRIPT KILL commands of its owner, or by the server's time limit or memory limit.
 */
async function endedScripts(attacker: Attacker, scripts: readonly string[]): Promise<void> {
  for (const script of scripts) {
    const client = await attacker.resp();
    const answer = client.call(['EVAL', script, '0']);
    let isAnswered = false;
    void answer.then(() => {
      isAnswered = true;
    });
    await eventually(async () => {
      if (!isAnswered) await attacker.rest(['SCRIPT', 'KILL']);
      expect(isAnswered, script).to.equal(true);
    });
    expect(await answer).to.match(/^-ERR .*(stopped|memory)/);
  }
}

export const ENDLESS_SCRIPTS: Attack = {
  title: 'scripts that never end',
  run: (attacker) => endedScripts(attacker, [ENDLESS, ENDLESS]),
};

const GROWING_SCRIPTS: Attack = {
  title: 'scripts that allocate memory without end',
  run: (attacker) => endedScripts(attacker, [GROWING]),
};

const HELD_SCRIPTS: Attack = {
  title: 'scripts that never end or allocate without end, inside of pcall',
  run: (attacker) =>
    endedScripts(
      attacker,
      [ENDLESS, GROWING].flatMap((body) => [
        `pcall(function() ${body} end)`,
        `while true do pcall(function() ${body} end) end`,
      ]),
    ),
};

export const ON_THE_LOOP: readonly Attack[] = [
  MANY_SOURCES,
  LONG_SORT,
  LONG_COMMANDS,
  ENDLESS_SCRIPTS,
  GROWING_SCRIPTS,
  HELD_SCRIPTS,
];
