/** Contrast of every kind of button, link, row and badge, in each state and both themes. */
import { expect } from 'chai';
import { ConsoleBrowser } from '../support/browser/console-browser.js';
import { FORCED, measured, showSpecimens, withoutSpecimen } from '../support/browser/specimens.js';

/** WCAG 2.2, level AA, of text; a text that is disabled has no limit there and this one here. */
const LEAST = 4.5;
const LEAST_DISABLED = 3;

describe('console: contrast', function () {
  this.timeout(180_000);
  const browser = ConsoleBrowser.forSuite();

  const specimens = async (scheme: 'light' | 'dark') => {
    const { page } = await browser.personAt('/console/team', undefined, { width: 1280, scheme });
    await showSpecimens(page);
    return page;
  };

  it('is measured for every kind and state that the style sheets have a rule for', async () => {
    expect(await withoutSpecimen(await specimens('light'))).to.deep.equal([]);
  });

  for (const scheme of ['light', 'dark'] as const) {
    for (const state of Object.keys(FORCED)) {
      it(`is at least ${LEAST} for each text in the state ${state}, ${scheme}`, async () => {
        const found = await measured(await specimens(scheme), state);
        expect(found.length).to.be.above(200);
        const faint = found.filter(
          ({ specimen, contrast }) => contrast < (specimen.includes('disabled') ? LEAST_DISABLED : LEAST),
        );
        expect(faint.map(({ specimen, contrast }) => `${specimen}: ${contrast.toFixed(2)}`)).to.deep.equal([]);
      });
    }

    it(`differs between selected and other rows under the mouse, ${scheme}`, async () => {
      const page = await specimens(scheme);
      for (const state of ['rest', 'hover']) {
        const found = await measured(page, state);
        const background = (name: string) => found.find(({ specimen }) => specimen === `${name} ()`)?.background;
        expect(background('row, selected')).to.be.a('string').and.not.equal(background('row'));
        expect(background('key row, selected, its link'))
          .to.be.a('string')
          .and.not.equal(background('key row, its link'));
      }
    });
  }
});
