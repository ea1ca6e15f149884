/* The water of a world with rivers: the fields that tell of it, and what they say of a place. */
import { metres, quantity } from './world.js';

/* The level where there is no water. */
const DRY = -32768;

/* The fields of WORLD that tell of its water; none if it has no rivers. */
export const waterFields = ({ fields }) => (fields?.water?.water && fields.river?.river ? ['water', 'river'] : []);

/* The water at a place of this HEIGHT with these values of its fields, as text; null on land. */
export function waterText(height, { water, river }) {
    if (water > DRY && water > height)
        return river > 0
            ? `River of order ${quantity(river, 0)} at ${metres(water)}, ${metres(water - height, 1)} deep`
            : `Lake at ${metres(water)}, ${metres(water - height)} deep`;
    return height < 0 ? `Sea, ${metres(-height)} deep` : null;
}
