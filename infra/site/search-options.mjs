/** How sections are indexed: the same in the build and in the page. */
export const INDEX_OPTIONS = {
  fields: ['title', 'heading', 'text'],
  storeFields: ['title', 'heading'],
  searchOptions: { boost: { title: 4, heading: 3 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
};
