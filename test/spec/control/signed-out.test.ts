/** Signed-out sessions: remembered for as long as their text would be valid. */
import { expect } from 'chai';
import {
  type ControlCommand,
  ControlState,
  evolve,
  MAX_SESSION_NAME,
  MAX_SIGNED_OUT,
  rebuildingEvents,
} from '../../../src/domain/control/index.js';
import { given } from './given.js';
import { atMs, PEOPLE } from './management-given.js';

const signOut = (session: string, untilMs = atMs + 1): ControlCommand => ({ type: 'SignOut', session, untilMs });
const signedOut = (session: string, untilMs = atMs + 1, at = atMs) =>
  ({ type: 'SignedOut', session, untilMs, atMs: at }) as const;

describe('signed-out sessions', () => {
  it('are noted once, and not at all when they have expired', () => {
    given(...PEOPLE)
      .when(signOut('s'))
      .then(signedOut('s'));
    given(...PEOPLE, signedOut('s'))
      .when(signOut('s'))
      .then();
    given(...PEOPLE)
      .when(signOut('s', atMs))
      .then();
  });

  it('have names of bounded length', () => {
    given(...PEOPLE)
      .when(signOut('s'.repeat(MAX_SESSION_NAME + 1)))
      .refuses('BAD_VALUE');
    given(...PEOPLE)
      .when(signOut(''))
      .refuses('BAD_VALUE');
  });

  it('are forgotten when they have expired', () => {
    const state = new ControlState();
    evolve(state, signedOut('one', 100, 50));
    evolve(state, signedOut('other', 200, 99));
    expect([state.signedOut.has('one'), state.signedOut.has('other')]).to.deep.equal([true, true]);
    evolve(state, signedOut('third', 300, 100));
    expect([state.signedOut.has('one'), state.signedOut.has('other')]).to.deep.equal([false, true]);
  });

  it('are limited in number, and the oldest is forgotten first', () => {
    const state = new ControlState();
    for (let at = 0; at <= MAX_SIGNED_OUT; at += 1) evolve(state, signedOut(`s${at}`, 1e9, 0));
    expect([...state.signedOut.all()]).to.have.length(MAX_SIGNED_OUT);
    expect([state.signedOut.has('s0'), state.signedOut.has('s1')]).to.deep.equal([false, true]);
  });

  it('are part of a snapshot', () => {
    const state = new ControlState();
    evolve(state, signedOut('one', 100, 50));
    const again = new ControlState();
    for (const event of rebuildingEvents(state)) evolve(again, event);
    expect([...again.signedOut.all()]).to.deep.equal([{ session: 'one', untilMs: 100 }]);
  });
});
