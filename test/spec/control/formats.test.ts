/** The format level: operators raise it, the journal stores it, and it is never lowered. */
import { expect } from 'chai';
import {
  type ControlCommand,
  ControlState,
  evolve,
  MAX_AUDIT_TEXT,
  rebuildingEvents,
} from '../../../src/domain/control/index.js';
import { FIRST_FORMAT_LEVEL, FORMAT_LEVEL } from '../../../src/kernel/index.js';
import { given, NOW_MS } from './given.js';

const raise = (level: number, by = 'root@host'): ControlCommand => ({ type: 'RaiseFormat', level, by });
const raised = (level: number, by = 'root@host') => ({ type: 'FormatRaised', level, by, atMs: NOW_MS }) as const;

describe('the format level', () => {
  it('is raised once, with name and time', () => {
    given().when(raise(FORMAT_LEVEL)).then(raised(FORMAT_LEVEL));
    given(raised(FORMAT_LEVEL)).when(raise(FORMAT_LEVEL, 'another@host')).then();
  });

  it('is never lowered, and starts at the first level', () => {
    given(raised(FORMAT_LEVEL)).when(raise(FIRST_FORMAT_LEVEL)).then();
    given().when(raise(FIRST_FORMAT_LEVEL)).then();
  });

  it('is not raised above the level that the owner of the control shard reads', () => {
    given()
      .when(raise(FORMAT_LEVEL + 1))
      .refuses('BAD_VALUE');
    given().when(raise(Number.NaN)).refuses('BAD_VALUE');
  });

  it('stores the name of the operator up to the bound of a note', () => {
    given()
      .when(raise(FORMAT_LEVEL, 'x'.repeat(MAX_AUDIT_TEXT + 1)))
      .then(raised(FORMAT_LEVEL, 'x'.repeat(MAX_AUDIT_TEXT)));
  });

  it('is part of a snapshot', () => {
    const state = new ControlState();
    evolve(state, raised(FORMAT_LEVEL));
    const again = new ControlState();
    for (const event of rebuildingEvents(state)) evolve(again, event);
    expect(again.format).to.deep.equal({ level: FORMAT_LEVEL, by: 'root@host', atMs: NOW_MS });
  });
});
