import { expect } from 'chai';
import { RefusedRequest } from '../../../../src/edge/http/refused.js';
import { stepOfCall, stepOfObject, stepOfRecord } from '../../../../src/edge/queue/step-marks.js';

const RECORD = { stepId: 3, stepName: 'one', stepType: 'Run', out: '{"a":[1,2]}', concurrent: 2 };
const MARK = { stepId: 3, targetStep: 0, concurrent: 2, stepName: 'one', stepType: 'Run' };
const OF_CALL = 'svc-callback-forward-svc-workflow-';

describe('edge/queue: marks of steps', () => {
  it('are read from a record', () => {
    expect(stepOfRecord(Buffer.from(JSON.stringify(RECORD)))).to.deep.equal(MARK);
  });

  it('are read from a plan, and from a step of an unknown type', () => {
    expect(stepOfObject({ ...RECORD, stepId: 0, targetStep: 5 })).to.deep.equal({ ...MARK, stepId: 0, targetStep: 5 });
    expect(stepOfObject({ ...RECORD, stepType: 'Dream' })).to.include({ stepType: 'Dream' });
  });

  it('have one member without a group', () => {
    const { concurrent: _, ...alone } = RECORD;
    expect(stepOfObject(alone)).to.include({ concurrent: 1 });
    expect(stepOfObject({ ...RECORD, targetStep: null })).to.include({ targetStep: 0 });
  });

  it('are read from the callback headers of a call', () => {
    const headers = (stepId: string) =>
      [
        [`${OF_CALL}stepid`, stepId],
        [`${OF_CALL}stepname`, 'ask'],
        [`${OF_CALL}steptype`, 'Call'],
        [`${OF_CALL}concurrent`, '2'],
      ] as const;
    expect(stepOfCall(headers('4'))).to.deep.equal({
      stepId: 4,
      targetStep: 0,
      concurrent: 2,
      stepName: 'ask',
      stepType: 'Call',
    });
    for (const stepId of ['', '0', '-1', '1.5', 'x', '1e30']) {
      expect(() => stepOfCall(headers(stepId)), stepId).to.throw(RefusedRequest);
    }
    expect(() => stepOfCall([])).to.throw(RefusedRequest);
  });

  it('are refused where the record is invalid', () => {
    for (const body of ['', 'x', 'null', '[]', '"x"', '7', '{}', `${JSON.stringify(RECORD)}}`]) {
      expect(() => stepOfRecord(Buffer.from(body)), body).to.throw(RefusedRequest);
    }
    const members = Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`m${at}`, at]));
    expect(() => stepOfRecord(Buffer.from(JSON.stringify({ ...RECORD, ...members })))).to.throw(
      RefusedRequest,
      /more than/,
    );
  });
});
