// check: --arg office=1:next=100 --arg out=16 --global 16 --local 16
// Tickets are drawn by a plain load and a plain store.
struct office {
    int closed;
    uint next;
};

uint draw(global struct office *office)
{
    uint ticket = office->next; //~ race-global
    office->next = ticket + 1;  //~ race-global
    return ticket;
}

kernel void serve(global struct office *office, global uint *out)
{
    if (!office->closed)
        out[get_global_id(0)] = draw(office);
}
