/** Proves IG3. */
import { expect } from 'chai';
import { InputGate, type InputGateParts } from '../../../src/edge/resp/input-gate.js';

const WHOLE_READ = 64 * 1024;

function gateOfOne() {
  const soon: (() => void)[] = [];
  let isPaused = false;
  let roomTimes = 0;
  const parts = {
    socket: {
      pause: () => {
        isPaused = true;
      },
      resume: () => {
        isPaused = false;
      },
      isPaused: () => isPaused,
    },
    client: { grant: undefined, endpoint: { parts: { timers: { soon: (action: () => void) => soon.push(action) } } } },
    parser: { heldBytes: 0 },
    held: { count: () => undefined, fits: () => true },
    isEnding: () => false,
    onRoom: () => {
      roomTimes += 1;
    },
    onRefused: () => undefined,
  } as unknown as InputGateParts;
  return { gate: new InputGate(parts), soon, isPaused: () => isPaused, roomTimes: () => roomTimes };
}

describe('a connection with much input', () => {
  it('pauses after three full reads until others have run, and then continues', () => {
    const { gate, soon, isPaused, roomTimes } = gateOfOne();
    for (let i = 0; i < 2; i += 1) gate.note(WHOLE_READ);
    expect([isPaused(), soon.length]).to.deep.equal([false, 0]);
    gate.note(WHOLE_READ);
    expect([isPaused(), soon.length]).to.deep.equal([true, 1]);
    gate.open();
    expect(isPaused(), 'opened by something else meanwhile').to.equal(true);
    soon[0]?.();
    expect(roomTimes()).to.equal(1);
    gate.open();
    expect(isPaused()).to.equal(false);
  });

  it('is not paused while reads are not full', () => {
    const { gate, soon } = gateOfOne();
    for (let i = 0; i < 100; i += 1) gate.note(i % 3 === 2 ? WHOLE_READ - 1 : WHOLE_READ);
    expect(soon).to.have.length(0);
  });
});
