/** Properties after any commands in any order; the invariants of the state are numbered in domain/control/state.ts. */
import { expect } from 'chai';
import fc from 'fast-check';
import { ControlFold } from '../../../src/actors/control/index.js';
import {
  decodeControlCommand,
  decodeControlEvents,
  decodeControlReply,
  encodeControlCommand,
  encodeControlEvent,
  encodeControlReply,
} from '../../../src/codec/control/index.js';
import {
  actsFor,
  CONTROL_COMMANDS,
  type ControlCommand,
  type ControlEvent,
  ControlState,
  decide,
  evolve,
  queueOwnerOf,
  rebuildingEvents,
} from '../../../src/domain/control/index.js';
import { repetitions } from '../../support/depth.js';
import { anyCommand, anyReading, PLAIN_TYPES } from '../../support/random-control.js';
import { INSTALLED, NOW_MS } from './given.js';
import { PEOPLE } from './management-given.js';

const RUNS = { numRuns: repetitions(150) };
const programs = fc.array(fc.tuple(anyCommand, fc.nat({ max: 1_000_000 })), {
  minLength: 1,
  maxLength: 80,
  size: 'max',
});

interface Played {
  readonly state: ControlState;
  readonly events: readonly ControlEvent[];
  readonly nowMs: number;
}

/** No program can know the number of an attempt in advance. */
function ofPresentAttempt(command: ControlCommand, state: ControlState): ControlCommand {
  if (command.type !== 'AdvancePartitions' || command.attempt > 0) return command;
  return { ...command, attempt: state.databases.get(command.database)?.layoutChange?.attempt ?? 0 };
}

/** Time never goes back. @param after is called with each command, and the state before it */
function play(
  program: readonly (readonly [ControlCommand, number])[],
  after: (command: ControlCommand, state: ControlState, nowMs: number) => void = () => undefined,
): Played {
  const state = new ControlState();
  const events: ControlEvent[] = [];
  for (const event of PEOPLE) evolve(state, event);
  let nowMs = NOW_MS;
  for (const [given, passed] of program) {
    nowMs += passed;
    const command = ofPresentAttempt(given, state);
    after(command, state, nowMs);
    const happened = decide(command, state, { nowMs }).events;
    for (const event of happened) evolve(state, event);
    events.push(...happened);
  }
  return { state, events, nowMs };
}

function bytesOf(events: Iterable<ControlEvent>): string {
  return Buffer.concat([...events].map(encodeControlEvent)).toString('hex');
}

describe('control: after any commands', () => {
  it('a replay of the journal and a snapshot give the state of the owner', () => {
    fc.assert(
      fc.property(programs, (program) => {
        const { state, events } = play(program);
        const written = Buffer.concat([...PEOPLE, ...events].map(encodeControlEvent));
        const replayed = new ControlFold();
        replayed.apply(written);
        const live = bytesOf(rebuildingEvents(state));
        expect(bytesOf(rebuildingEvents(replayed.state))).to.equal(live);
        const loaded = new ControlFold();
        for (const segment of replayed.segments(1000)) loaded.apply(segment);
        expect(loaded.digest()).to.equal(replayed.digest());
        expect(new Map([...loaded.state.tokens].sort())).to.deep.equal(new Map([...state.tokens].sort()));
        expect(loaded.state.liveCount).to.equal(state.liveCount);
      }),
      RUNS,
    );
  });

  it('the state of a snapshot leads to the same decisions as the original', () => {
    fc.assert(
      fc.property(programs, anyCommand, (program, next) => {
        const { state, nowMs } = play(program);
        const loaded = new ControlState();
        for (const event of rebuildingEvents(state)) evolve(loaded, event);
        const [one, other] = [decide(next, state, { nowMs }), decide(next, loaded, { nowMs })];
        expect(bytesOf(other.events)).to.equal(bytesOf(one.events));
        expect(encodeControlReply(other.reply)).to.deep.equal(encodeControlReply(one.reply));
      }),
      RUNS,
    );
  });

  it('deciding does not change the state, and reads have no events', () => {
    fc.assert(
      fc.property(programs, anyReading, (program, reading) => {
        const { state, nowMs } = play(program, (command, before, now) => {
          const untouched = bytesOf(rebuildingEvents(before));
          decide(command, before, { nowMs: now });
          expect(bytesOf(rebuildingEvents(before))).to.equal(untouched);
        });
        expect(decide(reading, state, { nowMs }).events).to.deep.equal([]);
      }),
      { numRuns: repetitions(50) },
    );
  });

  it('commands, answers and events cross the bus and the journal unchanged', () => {
    fc.assert(
      fc.property(programs, (program) => {
        const { events } = play(program, (command, state, nowMs) => {
          expect(said(decodeControlCommand(encodeControlCommand(command)))).to.deep.equal(said(command));
          const { reply } = decide(command, state, { nowMs });
          expect(said(decodeControlReply(encodeControlReply(reply)))).to.deep.equal(said(reply));
        });
        for (const event of events) {
          expect(said([...decodeControlEvents(encodeControlEvent(event))])).to.deep.equal(said([event]));
        }
      }),
      { numRuns: repetitions(100) },
    );
  });

  it('a repeated command has no further effect and the same answer', () => {
    fc.assert(
      fc.property(programs, (program) => {
        play(program, (command, before, nowMs) => {
          const plain = command.type === 'Audited' ? command.command : command;
          if (ONCE.has(plain.type)) return;
          const first = decide(command, before, { nowMs });
          if (first.reply.type === 'Rejected') return;
          const state = new ControlState();
          for (const event of [...rebuildingEvents(before), ...first.events]) evolve(state, event);
          const again = decide(command, state, { nowMs });
          if (again.reply.type === 'Rejected' && isMove(plain)) return;
          expect(again.events).to.deep.equal([]);
          expect(encodeControlReply(again.reply)).to.deep.equal(encodeControlReply(first.reply));
        });
      }),
      { numRuns: repetitions(50) },
    );
  });

  it('every index matches the records', () => {
    fc.assert(
      fc.property(programs, (program) => {
        const { state } = play(program);
        const live = [...state.databases.values()].filter(({ deletedAtMs }) => deletedAtMs === undefined);
        expect(state.liveCount).to.equal(live.length);
        // CST1.
        for (const { account, name, createdAtMs } of live) {
          expect(state.named(account, name)?.createdAtMs).to.be.at.most(createdAtMs);
        }
        // CST2.
        expect(state.tokens.size).to.equal(2 * live.length);
        expect(state.passwords.size).to.equal(live.length);
        const scraped = live.flatMap(({ settings }) => settings?.prometheusToken?.sha256 ?? []);
        expect([...state.scrapeTokens.keys()].sort()).to.deep.equal(scraped.sort());
        // CST5.
        const opens = [...state.accounts.values()].flatMap(({ secrets, readOnlyToken }) => [
          secrets.queueToken.sha256,
          ...(readOnlyToken === undefined ? [] : [readOnlyToken.sha256]),
        ]);
        expect([...state.queueTokens.keys()].sort()).to.deep.equal(opens.sort());
        // CST6.
        for (const { account, email } of state.apiKeys.byId.values()) {
          expect(actsFor(state.accounts.get(account), email, state)).to.equal(true);
        }
        // CST7.
        for (const { database, account } of state.backups.byId.values()) {
          expect(state.live(database)?.account).to.equal(account);
        }
        const indexes = [...state.search.byId.values()].filter(({ deletedAtMs }) => deletedAtMs === undefined);
        expect(state.search.liveCount).to.equal(indexes.length);
        expect(state.search.tokens.size).to.equal(2 * indexes.length);
        for (const account of state.accounts.values()) {
          expect(state.people.queues.of(queueOwnerOf(account)).has(account.id)).to.equal(true);
          for (const { email } of account.team?.members ?? []) {
            expect(state.people.teamsOf(email).has(account.id)).to.equal(true);
          }
          expect(state.deletedAccounts.has(account.id)).to.equal(false);
          expect(state.accounts.has(queueOwnerOf(account))).to.equal(true);
        }
      }),
      RUNS,
    );
  });

  it('commands that list and get are marked as reads, and no others', () => {
    const asks = PLAIN_TYPES.filter((type) => /^(List|Get)/.test(type));
    expect(PLAIN_TYPES.filter((type) => CONTROL_COMMANDS[type].isRead)).to.deep.equal(asks);
  });

  it('every kind of command is accepted in some program, so that the properties are tested', () => {
    const accepted = new Set<string>();
    const kinds = new Set<string>();
    for (const program of fc.sample(programs, { numRuns: 6000, seed: 8 })) {
      play(program, (command, state, nowMs) => {
        kinds.add(command.type);
        if (decide(command, state, { nowMs }).reply.type !== 'Rejected') accepted.add(command.type);
      });
    }
    expect([...kinds].filter((kind) => !accepted.has(kind))).to.deep.equal([]);
  });

  it('every program starts with an installation', () => {
    expect(PEOPLE.slice(0, INSTALLED.length)).to.deep.equal(INSTALLED);
  });
});

/**
 * Commands with a different answer on repetition: the resource has a new owner, or the command is not remembered.
 * Leases state the known amount and are checked against it.
 */
const ONCE: ReadonlySet<ControlCommand['type']> = new Set([
  'MoveDatabase',
  'RemoveMember',
  'DeleteUser',
  'DeleteApiKey',
  'DeleteBackup',
  'DeleteRole',
  'DeleteAlertRule',
  'UnassignRole',
  'LeaseQuota',
  'ReturnQuota',
  // A step names the attempt that it ends; a trigger is forgotten.
  'AdvancePartitions',
  'DeleteTrigger',
]);

function isMove(command: ControlCommand): boolean {
  return command.type === 'MoveQueue' || (command.type === 'ChangeSearchIndex' && command.to !== undefined);
}

/** A field without a value equals a missing field. */
function said(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
